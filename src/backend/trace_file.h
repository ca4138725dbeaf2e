// Chrome traces of backends: one file for all that a program opens, at once or one after the other.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headscope {

// An op of a backend, whose ops are one row in chrome://tracing and Perfetto.
struct TraceEvent {
    const char* op;
    std::string label;
    double begin;  // microseconds since the backend's first op
    double length;
};

class TraceFile {
public:
    // Error if it cannot be written.
    explicit TraceFile(const std::string& path);

    // Microseconds since the file was created.
    double now() const;
    // Adds the ops of a backend whose first one began at `begin`, and leaves a complete file. Failures are reported by
    // require_written(), since destructors of backends cannot throw. Any thread may call it.
    void add(const std::string& device, double begin, const std::vector<TraceEvent>& events);

    // Error if the trace of a backend could not be written.
    void require_written();

private:
    std::mutex mutex_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::string path_;
    std::string failure_;
    int rows_ = 0;
};

// The trace files of a program, whose backends come and go and do not know each other. Thread-safe.
class TraceFiles {
public:
    // The first call for a path creates the file. Error if it cannot be written.
    std::shared_ptr<TraceFile> at(const std::string& path);
    void require_written();  // of all files

private:
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<TraceFile>> by_path_;
};

}  // namespace headscope

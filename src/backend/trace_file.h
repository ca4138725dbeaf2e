// The Chrome trace of a process: one file, whatever number of backends it opens, at once or one after the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headscope {

// What one backend did, as a row of its own in chrome://tracing and Perfetto.
struct TraceEvent {
    const char* op;
    std::string label;
    double begin;  // microseconds since the backend's first op
    double length;
};

class TraceFile {
public:
    // The one at `path`, which the first who asks in this process begins anew. Error if it cannot be written.
    static std::shared_ptr<TraceFile> at(const std::string& path);

    // Error where the trace of a backend could not be written.
    static void require_written();

    explicit TraceFile(const std::string& path);

    // Microseconds since the file was begun.
    double now() const;
    // The ops of a backend whose first one began at `begin`. The file is whole after it, without them where it cannot
    // be written, which require_written() tells: backends end where nothing can be thrown. Any thread may call it.
    void add(const std::string& device, double begin, const std::vector<TraceEvent>& events);

private:
    std::mutex mutex_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::string path_;
    std::string failure_;
    int rows_ = 0;
};

}  // namespace headscope

#include "backend/trace_file.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "support/check.h"

namespace headscope {

std::shared_ptr<TraceFile> TraceFile::at(const std::string& path) {
    // Of the process, as the file is: backends come and go, and know nothing of each other.
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<TraceFile>> files;
    const std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<TraceFile>& file = files[std::filesystem::absolute(path).string()];
    if (file == nullptr) {
        file = std::make_shared<TraceFile>(path);
    }
    return file;
}

TraceFile::TraceFile(const std::string& path) : file_(path, std::ios::binary) {
    file_ << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
    end_ = file_.tellp();
    file_ << "]}\n";
    file_.flush();
    if (!file_) {
        throw Error("cannot write the trace file " + path);
    }
}

double TraceFile::now() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count();
}

void TraceFile::add(const std::string& device, double begin, const std::vector<TraceEvent>& events) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int row = rows_++;
    file_.seekp(end_);
    file_ << (row == 0 ? "\n" : ",\n")
          << nlohmann::json{{"name", "process_name"}, {"ph", "M"}, {"pid", row}, {"args", {{"name", device}}}};
    for (const TraceEvent& event : events) {
        file_ << ",\n"
              << nlohmann::json{{"name", event.op},
                                {"cat", "op"},
                                {"ph", "X"},
                                {"pid", row},
                                {"tid", 0},
                                {"ts", begin + event.begin},
                                {"dur", event.length},
                                {"args", {{"label", event.label}}}};
    }
    end_ = file_.tellp();
    file_ << "]}\n";
    file_.flush();
}

}  // namespace headscope

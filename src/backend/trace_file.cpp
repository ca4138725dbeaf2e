#include "backend/trace_file.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "support/append_to_file.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr std::string_view kBegin = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
constexpr const char* kEnd = "]}\n";

// The file might be anything, even the command's input.
void require_replaceable(const std::string& path) {
    if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path)) {
        throw Error("the trace file " + path + " is not a regular file: name another file");
    }
    std::ifstream there(path, std::ios::binary);
    std::string begin(kBegin.size(), '\0');
    there.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    if (there.gcount() > 0 && begin != kBegin) {
        throw Error("the trace file " + path + " exists and is not a trace: name another file");
    }
}

}  // namespace

TraceFile::TraceFile(const std::string& path) : path_(path) {
    require_replaceable(path);
    std::ofstream(path, std::ios::binary);  // truncates it
    append_to_file(path, std::string(kBegin) + kEnd);
}

double TraceFile::now() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count();
}

void TraceFile::add(const std::string& device, double begin, const std::vector<TraceEvent>& events) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int row = rows_++;
    std::ostringstream text;
    text << (row == 0 ? "\n" : ",\n")
         << nlohmann::json{{"name", "process_name"}, {"ph", "M"}, {"pid", row}, {"args", {{"name", device}}}};
    for (const TraceEvent& event : events) {
        text << ",\n"
             << nlohmann::json{{"name", event.op},
                               {"cat", "op"},
                               {"ph", "X"},
                               {"pid", row},
                               {"tid", 0},
                               {"ts", begin + event.begin},
                               {"dur", event.length},
                               {"args", {{"label", event.label}}}};
    }
    text << kEnd;
    try {
        if (failure_.empty()) {
            append_to_file(path_, text.str(), std::strlen(kEnd));
        }
    } catch (const Error& error) {
        failure_ = error.what();
    }
}

void TraceFile::require_written() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.empty()) {
        throw Error("the trace lacks what came last: " + failure_);
    }
}

std::shared_ptr<TraceFile> TraceFiles::at(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<TraceFile>& file = by_path_[std::filesystem::absolute(path).string()];
    if (file == nullptr) {
        file = std::make_shared<TraceFile>(path);
    }
    return file;
}

void TraceFiles::require_written() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [path, file] : by_path_) {
        if (file != nullptr) {  // could be created
            file->require_written();
        }
    }
}

}  // namespace headscope

#include "backend/trace_file.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "support/check.h"

namespace headscope {

namespace {

constexpr std::string_view kBegin = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";

// The file may be anything, also what the command is about to read.
void require_replaceable(const std::string& path) {
    std::ifstream there(path, std::ios::binary);
    std::string begin(kBegin.size(), '\0');
    there.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    if (std::filesystem::is_regular_file(path) && there.gcount() > 0 && begin != kBegin) {
        throw Error("the trace file " + path + " is there already and holds no trace: name another file");
    }
}

}  // namespace

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

TraceFile::TraceFile(const std::string& path) {
    require_replaceable(path);
    file_.open(path, std::ios::binary);
    file_ << kBegin;
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

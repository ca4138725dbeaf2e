#include "io/event_file.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "io/event_records.h"
#include "support/append_to_file.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr std::int64_t kMostSeconds = 9'999'999'999;  // ten digits, so that names sort numerically

// The timestamp in the newest event file's name; 0 without event files.
std::int64_t newest_seconds(const std::string& folder) {
    std::int64_t newest = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(kPrefix)) {
            newest = std::max<std::int64_t>(newest, std::strtoll(name.c_str() + kPrefix.size(), nullptr, 10));
        }
    }
    return std::min(newest, kMostSeconds - 1);
}

}  // namespace

double wall_clock() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventFile::EventFile(const std::string& folder, std::int64_t last_step, WallClock clock) : clock_(std::move(clock)) {
    try {
        std::filesystem::create_directories(folder);
        const double now = clock_();
        const std::int64_t seconds = std::max(static_cast<std::int64_t>(now), newest_seconds(folder) + 1);
        path_ = (std::filesystem::path(folder) / fmt::format("{}{:010}.headscope", kPrefix, seconds)).string();
        waiting_ = event_record(version_event(now));
        if (last_step > 0) {
            waiting_ += event_record(restart_event(now, last_step + 1));
        }
    } catch (const std::filesystem::filesystem_error& error) {
        throw Error(fmt::format("cannot write event files into '{}': {}", folder, error.code().message()));
    }
    flush();
}

EventFile::~EventFile() {
    try {
        flush();
    } catch (...) {  // NOLINT(bugprone-empty-catch): call flush() to see errors
    }
}

void EventFile::scalar(std::string_view tag, std::int64_t step, double value) {
    waiting_ += event_record(scalar_event(clock_(), step, tag, value));
}

void EventFile::flush() {
    if (waiting_.empty()) {
        return;
    }
    append_to_file(path_, waiting_);
    waiting_.clear();
}

}  // namespace headscope

#include "train/run_log.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "support/append_to_file.h"
#include "support/check.h"
#include "train/run_totals.h"

namespace headscope {
namespace {

std::string inside(const std::string& folder, const char* name) {
    return (std::filesystem::path(folder) / name).string();
}

// Every number of a line of the log, named by the line's kind and its key.
void add_scalars(EventFile& events, const std::string& name, std::int64_t step, const nlohmann::json& values) {
    for (const auto& [key, value] : values.items()) {
        if (value.is_object()) {
            add_scalars(events, name + "/" + key, step, value);
        } else if (value.is_number() && key != "step") {
            events.scalar(name + "/" + key, step, value.get<double>());
        }
    }
}

}  // namespace

std::string lines_up_to(const std::string& path, std::int64_t last_step) {
    std::string kept;
    std::ifstream old(path);
    for (std::string line; std::getline(old, line);) {
        // A line that a kill cut short does not parse and is dropped as well.
        const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
        const auto step = json.is_object() ? json.find("step") : json.end();
        if (step != json.end() && is_count(*step) && *step <= last_step) {
            kept += line + "\n";
        }
    }
    return kept;
}

RunLog::RunLog(std::string path, std::int64_t last_step) : path_(std::move(path)) {
    atomic_write_file(path_, last_step > 0 ? lines_up_to(path_, last_step) : "");
}

void RunLog::add(const nlohmann::json& line) const {
    append_to_file(path_, line.dump() + "\n");
}

void RunLogs::open(std::int64_t last_step) {
    log_.emplace(inside(folder_, "log.jsonl"), last_step);
    if (tensorboard_) {
        events_.emplace(inside(folder_, "tensorboard"), last_step);
    }
}

void RunLogs::open_once(std::int64_t last_step) {
    if (!log_) {
        open(last_step);
    }
}

template <class Write>
void RunLogs::attempt(bool& failed, const Write& write) {
    try {
        write();
    } catch (const Error& error) {
        if (!std::exchange(failed, true)) {
            say_(fmt::format("warning: {}; the training goes on, and warns of this file once", error.what()));
        }
    }
}

void RunLogs::add(const nlohmann::json& line) {
    attempt(log_failed_, [&] { log_->add(line); });
    if (events_) {
        attempt(events_failed_, [&] {
            add_scalars(*events_, line.at("kind"), line.at("step"), line);
            events_->flush();
        });
    }
}

}  // namespace headscope

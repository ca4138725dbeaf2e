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

RunLog::RunLog(const std::string& folder, bool tensorboard, Log say)
    : log_((std::filesystem::path(folder) / "log.jsonl").string()),
      events_folder_(tensorboard ? (std::filesystem::path(folder) / "tensorboard").string() : ""),
      say_(std::move(say)) {}

void RunLog::open(std::int64_t last_step) {
    atomic_write_file(log_, last_step > 0 ? lines_up_to(log_, last_step) : "");
    if (!events_folder_.empty()) {
        events_.emplace(events_folder_, last_step);
    }
    open_ = true;
}

void RunLog::add(const nlohmann::json& line) {
    const auto attempt = [&](bool& failed, const auto& write) {
        try {
            write();
        } catch (const Error& error) {
            if (!std::exchange(failed, true)) {
                say_(fmt::format("warning: {}; the training continues without further warnings about this file",
                                 error.what()));
            }
        }
    };
    attempt(log_failed_, [&] { append_to_file(log_, line.dump() + "\n"); });
    if (events_) {
        attempt(events_failed_, [&] {
            add_scalars(*events_, line.at("kind"), line.at("step"), line);
            events_->flush();
        });
    }
}

}  // namespace headscope

// log.jsonl, one JSON object per line, and event files for TensorBoard.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "io/event_file.h"
#include "train/training_data.h"

namespace headscope {

// The complete lines of a log for steps up to `last_step`, each with its line end; "" if there is no log.
std::string lines_up_to(const std::string& path, std::int64_t last_step);

class RunLog {
public:
    RunLog(const std::string& folder, bool tensorboard, Log say);

    // Drops the lines of steps after `last_step`: a run that continues from there writes them again. With 0 the log
    // starts from scratch.
    void open(std::int64_t last_step);
    bool is_open() const { return open_; }
    // Does not fail, since a line is not worth the steps since the last checkpoint: warns once per file.
    void add(const nlohmann::json& line);

private:
    std::string log_, events_folder_;  // the latter "" for none
    Log say_;
    std::optional<EventFile> events_;
    bool open_ = false;
    bool log_failed_ = false, events_failed_ = false;  // after the warning
};

}  // namespace headscope

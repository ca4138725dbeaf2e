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
    // Drops the lines of steps after `last_step`: a run that continues from there writes them again. With 0 the log
    // starts from scratch.
    RunLog(std::string path, std::int64_t last_step);

    // Error when the line cannot be written.
    void add(const nlohmann::json& line) const;

private:
    std::string path_;
};

// All logs of a run.
class RunLogs {
public:
    RunLogs(std::string folder, bool tensorboard, Say say)
        : folder_(std::move(folder)), tensorboard_(tensorboard), say_(std::move(say)) {}

    void open(std::int64_t last_step);
    void open_once(std::int64_t last_step);  // unless they are open
    // Never fails, since a line is not worth the steps since the last checkpoint: warns once per file.
    void add(const nlohmann::json& line);

private:
    template <class Write>
    void attempt(bool& failed, const Write& write);

    std::string folder_;
    bool tensorboard_;
    Say say_;
    std::optional<RunLog> log_;
    std::optional<EventFile> events_;
    bool log_failed_ = false, events_failed_ = false;  // and a warning was printed
};

}  // namespace headscope

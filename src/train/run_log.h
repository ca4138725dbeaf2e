// log.jsonl: one JSON object a line, for plots and for whoever comes later.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

// The whole lines of a log that are of steps up to `last_step`, each with its end; "" where there is no log.
std::string lines_up_to(const std::string& path, std::int64_t last_step);

class RunLog {
public:
    // Lines of steps after `last_step` are dropped: the run that goes on from there will write them again. With 0 the
    // log starts anew.
    RunLog(std::string path, std::int64_t last_step);

    // Error when the line cannot be written.
    void add(const nlohmann::json& line) const;

private:
    std::string path_;
};

}  // namespace headscope

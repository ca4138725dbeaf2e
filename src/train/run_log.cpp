#include "train/run_log.h"

#include <cstdint>
#include <fstream>

#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "support/append_to_file.h"
#include "train/run_totals.h"

namespace headscope {

std::string lines_up_to(const std::string& path, std::int64_t last_step) {
    std::string kept;
    std::ifstream old(path);
    for (std::string line; std::getline(old, line);) {
        // A line cut short by a kill does not parse, and goes as well.
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

}  // namespace headscope

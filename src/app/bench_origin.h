// Where numbers come from, which stands beside them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.h"

namespace headscope {

struct BenchOrigin {
    std::string version;  // of the program
    std::string date;     // "2026-11-22T13:40:05Z"
    std::string command;  // as a shell would take it
};

// Of this process, now. `words` are its command line.
BenchOrigin bench_origin(int count, const char* const* words);

// {"bench": what, "headscope": version, "date": .., "command": ..}
nlohmann::ordered_json to_json(const BenchOrigin& origin, const std::string& what);
// {"id": .., "name": .., "driver": .., "software": ..}
nlohmann::ordered_json to_json(const DeviceInfo& device);

}  // namespace headscope

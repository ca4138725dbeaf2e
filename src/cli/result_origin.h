// The origin of a result, recorded with it for reproduction.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.h"

namespace headscope {

struct ResultOrigin {
    std::string version;  // of the program
    std::string commit;
    std::string date;     // "2026-11-22T13:40:05Z"
    std::string command;  // quoted for a shell
};

// The current process and time. `words` is its command line.
ResultOrigin result_origin(int count, const char* const* words);

// {"headscope": version, "commit": .., "date": .., "command": ..}
nlohmann::ordered_json to_json(const ResultOrigin& origin);
// The same after {"bench": what}
nlohmann::ordered_json to_json(const ResultOrigin& origin, const std::string& what);
// {"id": .., "name": .., "driver": .., "software": ..}
nlohmann::ordered_json to_json(const DeviceInfo& device);

}  // namespace headscope

#include "io/strict_json.h"

#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/whole_file.h"
#include "support/check.h"

namespace headscope {

nlohmann::json parse_json(std::istream& stream, const std::string& file) {
    using Event = nlohmann::json::parse_event_t;
    std::vector<std::set<std::string>> keys;  // of the open objects, innermost last
    const auto watch = [&](int, Event event, nlohmann::json& parsed) {
        if (event == Event::object_start) {
            keys.emplace_back();
        } else if (event == Event::object_end) {
            keys.pop_back();
        } else if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
            throw Error(
                fmt::format("{}: duplicate key \"{}\" in one object: remove one", file, parsed.get<std::string>()));
        }
        return true;
    };
    try {
        return nlohmann::json::parse(stream, watch);
    } catch (const nlohmann::json::exception& problem) {
        const std::string_view message =
            problem.what();  // "[json.exception.parse_error.101] parse error at line 2, ..."
        throw Error(fmt::format("{} is not valid JSON: {}", file, message.substr(message.find("] ") + 2)));
    }
}

nlohmann::json read_json_file(const std::string& path) {
    std::istringstream stream(read_whole_file(path, "'" + path + "'"));
    return parse_json(stream, path);
}

}  // namespace headscope

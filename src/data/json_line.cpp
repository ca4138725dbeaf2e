#include "data/json_line.h"

#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/strict_json.h"
#include "support/check.h"
#include "text/normalised.h"

namespace headscope {

nlohmann::json json_of_line(const std::string& line, const std::string& place, const char* like) {
    if (is_empty_text(line)) {
        throw Error(fmt::format("{} is empty: each line is an object, such as {}", place, like));
    }
    std::istringstream stream(line);
    return parse_json(stream, place);
}

std::string text_of_line(ConfigReader& reader, const char* key) {
    const nlohmann::json& value = reader.child(key);
    if (!value.is_string()) {
        reader.fail(key, fmt::format("must be text, found {}", value.dump()));
    }
    std::string text = value.get<std::string>();
    if (is_empty_text(text)) {
        reader.fail(key, "is empty: leave the line out, or write a text");
    }
    return text;
}

}  // namespace headscope

#include "cli/json_output.h"

#include <nlohmann/json.hpp>

namespace headscope {

namespace {

constexpr int kSchema = 1;

// Text that is not UTF-8 loses what is wrong with it.
std::string dumped(const nlohmann::ordered_json& object, int indent) {
    nlohmann::ordered_json json{{"schema", kSchema}};
    json.update(object);
    return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string json_document(const nlohmann::ordered_json& object) {
    return dumped(object, 2);
}

std::string json_row(const nlohmann::ordered_json& object) {
    return dumped(object, -1);
}

}  // namespace headscope

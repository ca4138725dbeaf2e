#include "answers/json_output.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/check.h"

namespace headscope {

namespace fs = std::filesystem;

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

std::string json_with_schema(const std::string& object) {
    HEADSCOPE_CHECK(object.starts_with('{'), "only an object has a schema");
    return fmt::format("{{\"schema\": {},{}", kSchema, object.substr(1));
}

nlohmann::ordered_json written_file(const std::string& path) {
    const std::string ending = fs::path(path).extension().string();
    return {{"path", path}, {"kind", ending.empty() ? "" : ending.substr(1)}, {"bytes", fs::file_size(path)}};
}

nlohmann::ordered_json written_files(const std::string& folder) {
    std::vector<std::string> paths;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file() && entry.path().has_extension()) {
            paths.push_back(entry.path().string());
        }
    }
    std::sort(paths.begin(), paths.end());
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (const std::string& path : paths) {
        files.push_back(written_file(path));
    }
    return files;
}

}  // namespace headscope

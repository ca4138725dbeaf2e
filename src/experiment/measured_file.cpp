#include "experiment/measured_file.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "io/strict_json.h"
#include "io/whole_file.h"
#include "support/check.h"
#include "support/hash.h"

namespace headscope {

std::string name_of_text(const std::string& file) {
    return fmt::format("{:016x}", fnv1a(read_whole_file(file, "the test text '" + file + "'")));
}

nlohmann::json known_measures(const std::string& file, const std::string& text,
                              const std::vector<const char*>& numbers) {
    nlohmann::json json = std::filesystem::exists(file) ? read_json_file(file) : nlohmann::json::object();
    if (json.value("text", "") != text) {
        return nullptr;
    }
    json.erase("text");
    try {
        for (const char* key : numbers) {
            static_cast<void>(json.at(key).get<double>());
        }
    } catch (const nlohmann::json::exception& error) {
        throw Error(fmt::format("'{}' is not an experiment's result ({}): remove it, and the models are measured again",
                                file, error.what()));
    }
    return json;
}

void keep_measures(const std::string& file, const std::string& text, nlohmann::json measures) {
    measures["text"] = text;
    atomic_write_file(file, measures.dump(2) + "\n");
}

}  // namespace headscope

#include "model/training_card.h"

#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "io/strict_json.h"
#include "io/whole_file.h"
#include "support/check.h"

namespace headscope {

namespace {

std::string file_in(const std::string& directory) {
    return (std::filesystem::path(directory) / kTrainingCard).string();
}

}  // namespace

nlohmann::json read_training_card(const std::string& directory) {
    const std::string file = file_in(directory);
    std::error_code ignored;
    if (!std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
        return nullptr;
    }
    std::istringstream stream(read_whole_file(file, "'" + file + "', what the model's training cost"));
    nlohmann::json card = parse_json(stream, file);
    if (!card.is_object()) {
        throw Error(fmt::format("{}: expected an object {{...}}, found {}", file, card.dump()));
    }
    return card;
}

void write_training_card(const std::string& directory, const nlohmann::json& card) {
    atomic_write_file(file_in(directory), card.dump(2) + "\n");
}

}  // namespace headscope

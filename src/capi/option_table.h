// The keys of hs_options, and what obeys each.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <headscope/headscope.h>

namespace headscope {

// Sets of functions and kinds of requests.
using Uses = std::uint32_t;
inline constexpr Uses kDevices = 1U << 0U, kModels = 1U << 1U, kEngine = 1U << 2U, kModel = 1U << 3U,
                      kFigure = 1U << 4U, kTraining = 1U << 5U, kConform = 1U << 6U;
constexpr Uses use_of(int kind) {
    return 1U << (8U + static_cast<unsigned>(kind));
}

struct OptionRow {
    std::string key;
    std::string_view type = {};  // "boolean", "integer", "number", "text", "choice", "list" or "object"
    Uses uses = 0;
    double least = 0.0, most = 0.0;         // of numbers
    std::vector<std::string> choices = {};  // of a choice; names of an object
    nlohmann::json initial = {};            // null: as the help says
    std::string help;
};

// The decoding options (infer/decoding_keys.h) and those of the library.
const std::vector<OptionRow>& option_rows();

// Failure for an unknown key.
void require_option(std::string_view key);
// Failure for an unknown key, and for a value that it cannot have.
void check_option(std::string_view key, const nlohmann::json& value);

// "hs_engine_open, translate": the names in hs_options_keys().
std::vector<std::string> names_of(Uses uses);

}  // namespace headscope

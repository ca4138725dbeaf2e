// What somebody chose of a search, and left open: a model's author in decoding.json, or a user on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "infer/search_options.h"

namespace headscope {

struct SearchChoices {
    std::optional<int> beam = {};
    std::optional<double> length_penalty = {};
    std::optional<LengthPenaltyForm> length_penalty_form = {};
    std::optional<std::int64_t> max_extra = {};
    std::optional<int> no_repeat_ngram = {};

    // `options` with what was chosen in place of what stood there.
    SearchOptions over(SearchOptions options) const;
    bool operator==(const SearchChoices&) const = default;
};

// As the command line and decoding.json write it.
inline constexpr const char* kLengthPenaltyForms[] = {"gnmt", "power"};

// decoding.json of a model directory (docs/model-directory.md); nothing is chosen where there is none. Error names the
// file and the key that is unknown or out of range.
SearchChoices read_search_choices(const std::string& directory);
// The same of what was read; `file` is for messages.
SearchChoices parse_search_choices(const nlohmann::json& json, const std::string& file);

}  // namespace headscope

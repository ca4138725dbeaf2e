// Decoding options that may be left open: by a model's author in decoding.json, or by a user on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "infer/search_options.h"
#include "model/model_directory.h"

namespace headscope {

struct DecodingChoices {
    static constexpr std::int64_t kMaxSplit = 1'000'000;

    std::optional<int> beam = {};
    std::optional<double> length_penalty = {};
    std::optional<LengthPenaltyForm> length_penalty_form = {};
    std::optional<std::int64_t> max_extra = {};
    std::optional<std::int64_t> max_length = {};
    std::optional<double> max_factor = {};
    std::optional<bool> force_end = {};
    std::optional<bool> allow_unknown = {};
    std::optional<std::vector<std::vector<std::int32_t>>> bad_words = {};
    std::optional<std::string> source_language = {}, target_language = {};
    std::optional<int> no_repeat_ngram = {};
    std::optional<std::int64_t> min_length = {};
    std::optional<int> iterations = {};
    std::optional<int> length_candidates = {};           // "lengths"
    std::optional<std::int64_t> split_longer_than = {};  // see DecodingOptions
    std::optional<Stopping> stopping = {};               // "early_stopping"
    std::optional<std::vector<std::int32_t>> ends = {};
    std::optional<bool> allow_start = {};
    std::optional<std::int64_t> min_total = {};
    std::optional<int> no_source_ngram = {};
    std::optional<std::vector<std::int32_t>> bad_first = {};
    std::optional<double> repetition_penalty = {};
    std::optional<double> source_repetition_penalty = {};
    std::optional<std::vector<SequenceBias>> sequence_bias = {};
    std::optional<EndGrowth> end_growth = {};
    std::optional<bool> renormalize = {};

    // `options` with the chosen search options in place. A chosen min_length replaces min_total, too.
    SearchOptions over(SearchOptions options) const;
    bool operator==(const DecodingChoices&) const = default;
};

// Names of LengthPenaltyForm on the command line and in decoding.json.
inline constexpr const char* kLengthPenaltyForms[] = {"gnmt", "power"};

// The names of Stopping for --early-stopping; in decoding.json true and false are no strings.
inline constexpr const char* kStoppings[] = {"exact", "true", "false", "never"};

// Error for choices that mean nothing to a model that writes in this way. `file` is where they are from; "": options.
void check_choices(const DecodingChoices& choices, Generation generation, const std::string& file = "");

// Those of the model's author (docs/model-directory.md). Error names the file and the key that is unknown or out of
// range.
DecodingChoices decoding_choices_of(const ModelDirectory& model);
// The same for parsed JSON; `file` is for messages. Only `model` knows ids of bad words that are given as pieces.
DecodingChoices parse_decoding_choices(const nlohmann::json& json, const std::string& file,
                                       const ModelDirectory* model = nullptr);

}  // namespace headscope

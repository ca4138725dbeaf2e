// Decoding options that may be left open: by a model's author in decoding.json, by a user on the command line, by a
// request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "infer/search_options.h"
#include "model/model_directory.h"

namespace headscope {

struct DecodingOptions;
struct SourceLine;

struct DecodingChoices {
#define HEADSCOPE_SEARCH_OPTION(Type, member, ...) std::optional<Type> member = {};
#define HEADSCOPE_OTHER_OPTION(Type, member, ...) std::optional<Type> member = {};
#include "infer/decoding_rows.h"

    // `options` with what is chosen in place. A chosen min_length replaces min_total, too, and sampling any beam.
    SearchOptions over(SearchOptions options) const;
    DecodingOptions applied_to(DecodingOptions options) const;
    bool operator==(const DecodingChoices&) const = default;
};

// Sets options by key: `values` is an object. Error names `origin` ("decoding.json", "request") and the key that is
// unknown, or out of range with its range. Only `model` knows ids of tokens that are given as pieces.
void set_choices(DecodingChoices& choices, const nlohmann::json& values, const std::string& origin,
                 const ModelDirectory* model = nullptr);
// The same for one value as text, such as an argument's: numbers and names as they are, lists as JSON.
void set_choice(DecodingChoices& choices, const std::string& key, const std::string& text, const std::string& origin);
// What set_choices() reads.
nlohmann::json to_json(const DecodingChoices& choices);

// Error for choices that contradict each other, or that need another. `origin` is where they are from; "": options.
void check_choices(const DecodingChoices& choices, const std::string& origin = "");
// Also for those that mean nothing to such a model.
void check_choices(const DecodingChoices& choices, const ModelConfig& config, const std::string& origin = "");

// Of a completion, over the model's `options`: max_extra lifts the model's max_length, which counts the prompt, and the
// beam is at least n_best. Error for options that contradict each other.
DecodingOptions completion_options(DecodingChoices choices, const DecodingOptions& options);

// Error for what `lines` and `options` ask of such a model beyond its defaults, but it does not obey, or not without
// another option: nothing that is asked for is ignored.
void check_request(const std::vector<SourceLine>& lines, const DecodingOptions& options, const ModelConfig& config);

// The choices of the model's author (docs/model-directory.md). Error names the file and the key, also if it is one of a
// request alone.
DecodingChoices decoding_choices_of(const ModelDirectory& model);
// The same for parsed JSON; `file` is for messages.
DecodingChoices parse_decoding_choices(const nlohmann::json& json, const std::string& file,
                                       const ModelDirectory* model = nullptr);

}  // namespace headscope

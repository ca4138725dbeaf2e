#include "infer/decoding_choices.h"

#include <nlohmann/json.hpp>

#include "io/config_reader.h"

namespace headscope {

namespace {

// Reads the key even if it is absent, so that the reader can suggest it for a misspelled key.
template <class Integer>
void read_integer(ConfigReader& reader, const char* key, std::optional<Integer>& value, int least, std::int64_t most) {
    const std::int64_t read = reader.integer(key, least, least, most);
    if (reader.has(key)) {
        value = static_cast<Integer>(read);
    }
}

}  // namespace

SearchOptions DecodingChoices::over(SearchOptions options) const {
    options.beam = beam.value_or(options.beam);
    options.length_penalty = length_penalty.value_or(options.length_penalty);
    options.length_penalty_form = length_penalty_form.value_or(options.length_penalty_form);
    options.max_extra = max_extra.value_or(options.max_extra);
    options.no_repeat_ngram = no_repeat_ngram.value_or(options.no_repeat_ngram);
    options.min_length = min_length.value_or(options.min_length);
    return options;
}

DecodingChoices decoding_choices_of(const ModelDirectory& model) {
    return model.decoding ? parse_decoding_choices(*model.decoding, model.decoding_origin) : DecodingChoices{};
}

DecodingChoices parse_decoding_choices(const nlohmann::json& json, const std::string& file) {
    ConfigReader reader(json, file, "");
    DecodingChoices choices;
    read_integer(reader, "beam", choices.beam, 1, SearchOptions::kMaxBeam);
    const double penalty = reader.number("length_penalty", 0.0, 0.0, SearchOptions::kMaxLengthPenalty);
    if (reader.has("length_penalty")) {
        choices.length_penalty = penalty;
    }
    const int form = reader.choice("length_penalty_form", 0, {kLengthPenaltyForms[0], kLengthPenaltyForms[1]});
    if (reader.has("length_penalty_form")) {
        choices.length_penalty_form = static_cast<LengthPenaltyForm>(form);
    }
    read_integer(reader, "max_extra", choices.max_extra, 0, SearchOptions::kMaxExtra);
    read_integer(reader, "no_repeat_ngram", choices.no_repeat_ngram, 0, SearchOptions::kMaxNoRepeatNgram);
    read_integer(reader, "min_length", choices.min_length, 0, SearchOptions::kMaxMinLength);
    read_integer(reader, "split_longer_than", choices.split_longer_than, 0, DecodingChoices::kMaxSplit);
    reader.finish();
    return choices;
}

}  // namespace headscope

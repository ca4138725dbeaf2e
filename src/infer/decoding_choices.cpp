#include "infer/decoding_choices.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "io/config_reader.h"
#include "support/check.h"

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

void read_number(ConfigReader& reader, const char* key, std::optional<double>& value, double most) {
    const double read = reader.number(key, 0.0, 0.0, most);
    if (reader.has(key)) {
        value = read;
    }
}

void read_boolean(ConfigReader& reader, const char* key, std::optional<bool>& value) {
    const bool read = reader.boolean(key, false);
    if (reader.has(key)) {
        value = read;
    }
}

void read_text(ConfigReader& reader, const char* key, std::optional<std::string>& value) {
    const std::string read = reader.text(key);
    if (reader.has(key)) {
        value = read;
    }
}

// A piece or an id of the target's vocabulary.
std::int32_t token_of(const ConfigReader& reader, const nlohmann::json& json, const ModelDirectory* model) {
    const std::int64_t size = model != nullptr ? model->config.target_vocabulary : INT32_MAX;
    if (json.is_number_integer() && json >= 0 && json < size) {
        return json.get<std::int32_t>();
    }
    if (json.is_string() && model != nullptr) {
        if (const auto id = model->target_tokenizer->vocabulary().find(json.get<std::string>())) {
            return *id;
        }
    }
    reader.fail("bad_words",
                fmt::format("must hold lists of pieces or ids of the target's vocabulary, found {}", json.dump()));
}

void read_bad_words(ConfigReader& reader, const ModelDirectory* model, DecodingChoices& choices) {
    if (reader.has("bad_words")) {
        choices.bad_words.emplace();
    }
    for (const nlohmann::json& list : reader.list("bad_words")) {
        if (!list.is_array() || list.empty()) {
            reader.fail("bad_words", fmt::format("must hold lists of pieces or ids, found {}", list.dump()));
        }
        std::vector<std::int32_t> word;
        for (const nlohmann::json& token : list) {
            word.push_back(token_of(reader, token, model));
        }
        if (model != nullptr && word == std::vector<std::int32_t>{model->config.eos_id}) {
            reader.fail("bad_words", "must not contain the end of sentence alone: no output would end");
        }
        choices.bad_words->push_back(std::move(word));
    }
}

}  // namespace

SearchOptions DecodingChoices::over(SearchOptions options) const {
    options.beam = beam.value_or(options.beam);
    options.length_penalty = length_penalty.value_or(options.length_penalty);
    options.length_penalty_form = length_penalty_form.value_or(options.length_penalty_form);
    options.max_extra = max_extra.value_or(options.max_extra);
    options.max_length = max_length.value_or(options.max_length);
    options.max_factor = max_factor.value_or(options.max_factor);
    options.force_end = force_end.value_or(options.force_end);
    options.allow_unknown = allow_unknown.value_or(options.allow_unknown);
    options.bad_words = bad_words.value_or(options.bad_words);
    options.languages.source = source_language.value_or(options.languages.source);
    options.languages.target = target_language.value_or(options.languages.target);
    options.no_repeat_ngram = no_repeat_ngram.value_or(options.no_repeat_ngram);
    options.min_length = min_length.value_or(options.min_length);
    options.iterations = iterations.value_or(options.iterations);
    options.length_candidates = length_candidates.value_or(options.length_candidates);
    return options;
}

void check_choices(const DecodingChoices& choices, Generation generation, const std::string& file) {
    const bool masks = generation == Generation::MaskPredict;
    const std::vector<std::pair<std::string, bool>> given =
        masks ? std::vector<std::pair<std::string, bool>>{{"beam", choices.beam.has_value()},
                                                          {"length-penalty", choices.length_penalty.has_value()},
                                                          {"length-penalty-form",
                                                           choices.length_penalty_form.has_value()},
                                                          {"force-end", choices.force_end.has_value()},
                                                          {"bad-words", choices.bad_words.has_value()},
                                                          {"no-repeat-ngram", choices.no_repeat_ngram.has_value()}}
              : std::vector<std::pair<std::string, bool>>{{"iterations", choices.iterations.has_value()},
                                                          {"lengths", choices.length_candidates.has_value()}};
    for (auto [name, is_given] : given) {
        if (is_given) {
            std::replace(name.begin(), name.end(), '-', file.empty() ? '-' : '_');
            throw Error(fmt::format("{} is for models that {}, but \"generation\" is \"{}\": leave it out",
                                    file.empty() ? "--" + name : fmt::format("{}: \"{}\"", file, name),
                                    masks ? "write from left to right" : "fill in masks",
                                    masks ? "mask_predict" : "left_to_right"));
        }
    }
}

DecodingChoices decoding_choices_of(const ModelDirectory& model) {
    return model.decoding ? parse_decoding_choices(*model.decoding, model.decoding_origin, &model) : DecodingChoices{};
}

DecodingChoices parse_decoding_choices(const nlohmann::json& json, const std::string& file,
                                       const ModelDirectory* model) {
    ConfigReader reader(json, file, "");
    DecodingChoices choices;
    read_integer(reader, "beam", choices.beam, 1, SearchOptions::kMaxBeam);
    read_number(reader, "length_penalty", choices.length_penalty, SearchOptions::kMaxLengthPenalty);
    const int form = reader.choice("length_penalty_form", 0, {kLengthPenaltyForms[0], kLengthPenaltyForms[1]});
    if (reader.has("length_penalty_form")) {
        choices.length_penalty_form = static_cast<LengthPenaltyForm>(form);
    }
    read_integer(reader, "max_extra", choices.max_extra, 0, SearchOptions::kMaxExtra);
    read_integer(reader, "max_length", choices.max_length, 0, SearchOptions::kMaxLength);
    read_number(reader, "max_factor", choices.max_factor, SearchOptions::kMaxFactor);
    read_boolean(reader, "force_end", choices.force_end);
    read_boolean(reader, "allow_unknown", choices.allow_unknown);
    read_bad_words(reader, model, choices);
    read_text(reader, "source_language", choices.source_language);
    read_text(reader, "target_language", choices.target_language);
    read_integer(reader, "no_repeat_ngram", choices.no_repeat_ngram, 0, SearchOptions::kMaxNoRepeatNgram);
    read_integer(reader, "min_length", choices.min_length, 0, SearchOptions::kMaxMinLength);
    read_integer(reader, "iterations", choices.iterations, 1, SearchOptions::kMaxIterations);
    read_integer(reader, "lengths", choices.length_candidates, 1, SearchOptions::kMaxLengthCandidates);
    read_integer(reader, "split_longer_than", choices.split_longer_than, 0, DecodingChoices::kMaxSplit);
    reader.finish();
    if (model != nullptr) {
        check_choices(choices, model->config.generation, file);
    }
    return choices;
}

}  // namespace headscope

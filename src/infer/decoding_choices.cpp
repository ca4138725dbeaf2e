#include "infer/decoding_choices.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "io/config_reader.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

// A key of decoding.json, as it is read.
struct ChoiceKey {
    ConfigReader& reader;
    const ModelDirectory* model;
    const char* name;

    [[noreturn]] void fail(const std::string& problem) const { reader.fail(name, problem); }
};

// A piece or an id of the target's vocabulary.
std::int32_t token_of(const ChoiceKey& key, const nlohmann::json& json) {
    const std::int64_t size = key.model != nullptr ? key.model->config.target_vocabulary : INT32_MAX;
    if (json.is_number_integer() && json >= 0 && json < size) {
        return json.get<std::int32_t>();
    }
    if (json.is_string() && key.model != nullptr) {
        if (const auto id = key.model->target_tokenizer->vocabulary().find(json.get<std::string>())) {
            return *id;
        }
    }
    key.fail(fmt::format("must hold lists of pieces or ids of the target's vocabulary, found {}", json.dump()));
}

std::vector<std::int32_t> tokens_of(const ChoiceKey& key, const nlohmann::json& list) {
    if (!list.is_array() || list.empty()) {
        key.fail(fmt::format("must hold lists of pieces or ids, found {}", list.dump()));
    }
    std::vector<std::int32_t> tokens;
    std::transform(list.begin(), list.end(), std::back_inserter(tokens),
                   [&](const nlohmann::json& token) { return token_of(key, token); });
    return tokens;
}

std::vector<std::vector<std::int32_t>> read_bad_words(const ChoiceKey& key) {
    std::vector<std::vector<std::int32_t>> words;
    for (const nlohmann::json& list : key.reader.list(key.name)) {
        words.push_back(tokens_of(key, list));
        if (key.model != nullptr && words.back() == std::vector<std::int32_t>{key.model->config.frame.eos_id}) {
            key.fail("must not contain the end of sentence alone: no output would end");
        }
    }
    return words;
}

std::vector<std::int32_t> read_tokens(const ChoiceKey& key) {
    const nlohmann::json& list = key.reader.list(key.name);
    return list.empty() ? std::vector<std::int32_t>{} : tokens_of(key, list);
}

double number_in(const ChoiceKey& key, const nlohmann::json& pair, double least, double most) {
    if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number() || !(pair[1] >= least && pair[1] <= most)) {
        key.fail(fmt::format("must hold pairs whose second value is a number from {} to {}, found {}", least, most,
                             pair.dump()));
    }
    return pair[1].get<double>();
}

std::vector<SequenceBias> read_sequence_bias(const ChoiceKey& key) {
    std::vector<SequenceBias> all;
    for (const nlohmann::json& pair : key.reader.list(key.name)) {
        const double bias = number_in(key, pair, -SearchOptions::kMaxBias, SearchOptions::kMaxBias);
        all.push_back({tokens_of(key, pair[0]), bias});
    }
    return all;
}

EndGrowth read_end_growth(const ChoiceKey& key) {
    const nlohmann::json& pair = key.reader.list(key.name);
    if (pair.empty()) {
        return {};
    }
    EndGrowth growth{.start = 0, .factor = number_in(key, pair, 0.0, SearchOptions::kMaxRepetitionPenalty)};
    if (!pair[0].is_number_integer() || pair[0] < 0 || pair[0] > SearchOptions::kMaxMinLength) {
        key.fail(fmt::format("must begin with a number of tokens from 0 to {}, found {}", SearchOptions::kMaxMinLength,
                             pair[0].dump()));
    }
    growth.start = pair[0].get<std::int64_t>();
    return growth;
}

Stopping read_stopping(const ChoiceKey& key) {
    if (!key.reader.has(key.name)) {
        return Stopping::Exact;
    }
    const nlohmann::json& value = key.reader.child(key.name);
    if (value.is_boolean()) {
        return value.get<bool>() ? Stopping::Full : Stopping::AtPresent;
    }
    if (value != "never") {
        key.fail(fmt::format("must be true, false or \"never\", found {}", value.dump()));
    }
    return Stopping::AtLongest;
}

constexpr auto kPenalty = [](const ChoiceKey& key) {
    return key.reader.number(key.name, 1.0, 1e-3, SearchOptions::kMaxRepetitionPenalty);
};
constexpr auto kBoolean = [](const ChoiceKey& key) { return key.reader.boolean(key.name, false); };
constexpr auto kText = [](const ChoiceKey& key) { return key.reader.text(key.name); };
constexpr auto kTokens = [](const ChoiceKey& key) { return read_tokens(key); };

// The kinds of models to which an option means something.
enum class ModelsFor : std::uint8_t { All, LeftToRight, Masks };

// One option: its key, how it is read and what it sets.
struct ChoiceRow {
    const char* name;
    ModelsFor models;
    void (*read)(const ChoiceKey& key, DecodingChoices& choices);
    void (*apply)(const DecodingChoices& choices, SearchOptions& options);
    bool (*is_given)(const DecodingChoices& choices);
};

// `chosen` is the member of DecodingChoices, `option` what it sets: a member of SearchOptions, a function that returns
// a reference to a part of one, or nullptr. `read` is called for absent keys, too, so that the reader can suggest them
// for a misspelled one.
template <auto chosen, auto option, class Read>
constexpr ChoiceRow option_row(const char* name, ModelsFor models, Read) {
    return {name, models,
            [](const ChoiceKey& key, DecodingChoices& choices) {
                auto value = Read{}(key);
                if (key.reader.has(key.name)) {
                    choices.*chosen = std::move(value);
                }
            },
            [](const DecodingChoices& choices, SearchOptions& options) {
                if constexpr (!std::is_null_pointer_v<decltype(option)>) {
                    if (choices.*chosen) {
                        std::invoke(option, options) = *(choices.*chosen);
                    }
                }
            },
            [](const DecodingChoices& choices) { return (choices.*chosen).has_value(); }};
}

template <auto chosen, auto option, std::int64_t least, std::int64_t most>
constexpr ChoiceRow integer_row(const char* name, ModelsFor models = ModelsFor::All) {
    return option_row<chosen, option>(name, models, [](const ChoiceKey& key) {
        using Integer = typename std::remove_reference_t<decltype(std::declval<DecodingChoices>().*chosen)>::value_type;
        return static_cast<Integer>(key.reader.integer(key.name, least, least, most));
    });
}

using Choices = DecodingChoices;
using Options = SearchOptions;

constexpr auto kSourceOf = [](Options& options) -> std::string& { return options.languages.source; };
constexpr auto kTargetOf = [](Options& options) -> std::string& { return options.languages.target; };

const ChoiceRow kChoiceRows[] = {
    integer_row<&Choices::beam, &Options::beam, 1, Options::kMaxBeam>("beam", ModelsFor::LeftToRight),
    option_row<&Choices::length_penalty, &Options::length_penalty>(
        "length_penalty", ModelsFor::LeftToRight,
        [](const ChoiceKey& key) {
            return key.reader.number(key.name, 0.0, -Options::kMaxLengthPenalty, Options::kMaxLengthPenalty);
        }),
    option_row<&Choices::length_penalty_form, &Options::length_penalty_form>(
        "length_penalty_form", ModelsFor::LeftToRight,
        [](const ChoiceKey& key) {
            return static_cast<LengthPenaltyForm>(
                key.reader.choice(key.name, 0, {kLengthPenaltyForms[0], kLengthPenaltyForms[1]}));
        }),
    integer_row<&Choices::max_extra, &Options::max_extra, 0, Options::kMaxExtra>("max_extra"),
    integer_row<&Choices::max_length, &Options::max_length, 0, Options::kMaxLength>("max_length"),
    option_row<&Choices::max_factor, &Options::max_factor>(
        "max_factor", ModelsFor::All,
        [](const ChoiceKey& key) { return key.reader.number(key.name, 0.0, 0.0, Options::kMaxFactor); }),
    option_row<&Choices::force_end, &Options::force_end>("force_end", ModelsFor::LeftToRight, kBoolean),
    option_row<&Choices::allow_unknown, &Options::allow_unknown>("allow_unknown", ModelsFor::All, kBoolean),
    option_row<&Choices::bad_words, &Options::bad_words>("bad_words", ModelsFor::LeftToRight,
                                                         [](const ChoiceKey& key) { return read_bad_words(key); }),
    option_row<&Choices::source_language, kSourceOf>("source_language", ModelsFor::All, kText),
    option_row<&Choices::target_language, kTargetOf>("target_language", ModelsFor::All, kText),
    integer_row<&Choices::no_repeat_ngram, &Options::no_repeat_ngram, 0, Options::kMaxNoRepeatNgram>(
        "no_repeat_ngram", ModelsFor::LeftToRight),
    integer_row<&Choices::min_length, &Options::min_length, 0, Options::kMaxMinLength>("min_length"),
    integer_row<&Choices::iterations, &Options::iterations, 1, Options::kMaxIterations>("iterations", ModelsFor::Masks),
    integer_row<&Choices::length_candidates, &Options::length_candidates, 1, Options::kMaxLengthCandidates>(
        "lengths", ModelsFor::Masks),
    integer_row<&Choices::split_longer_than, nullptr, 0, Choices::kMaxSplit>("split_longer_than"),
    option_row<&Choices::stopping, &Options::stopping>("early_stopping", ModelsFor::LeftToRight,
                                                       [](const ChoiceKey& key) { return read_stopping(key); }),
    option_row<&Choices::ends, &Options::ends>("ends", ModelsFor::LeftToRight, kTokens),
    option_row<&Choices::allow_start, &Options::allow_start>("allow_start", ModelsFor::LeftToRight, kBoolean),
    integer_row<&Choices::min_total, &Options::min_total, 0, Options::kMaxMinLength>("min_total",
                                                                                     ModelsFor::LeftToRight),
    integer_row<&Choices::no_source_ngram, &Options::no_source_ngram, 0, Options::kMaxNoRepeatNgram>(
        "no_source_ngram", ModelsFor::LeftToRight),
    option_row<&Choices::bad_first, &Options::bad_first>("bad_first", ModelsFor::LeftToRight, kTokens),
    option_row<&Choices::repetition_penalty, &Options::repetition_penalty>("repetition_penalty", ModelsFor::LeftToRight,
                                                                           kPenalty),
    option_row<&Choices::source_repetition_penalty, &Options::source_repetition_penalty>(
        "source_repetition_penalty", ModelsFor::LeftToRight, kPenalty),
    option_row<&Choices::sequence_bias, &Options::sequence_bias>(
        "sequence_bias", ModelsFor::LeftToRight, [](const ChoiceKey& key) { return read_sequence_bias(key); }),
    option_row<&Choices::end_growth, &Options::end_growth>("end_growth", ModelsFor::LeftToRight,
                                                           [](const ChoiceKey& key) { return read_end_growth(key); }),
    option_row<&Choices::renormalize, &Options::renormalize>("renormalize", ModelsFor::LeftToRight, kBoolean),
};

}  // namespace

SearchOptions DecodingChoices::over(SearchOptions options) const {
    options.min_total = min_length ? 0 : options.min_total;
    for (const ChoiceRow& row : kChoiceRows) {
        row.apply(*this, options);
    }
    return options;
}

void check_choices(const DecodingChoices& choices, Generation generation, const std::string& file) {
    const bool masks = generation == Generation::MaskPredict;
    for (const ChoiceRow& row : kChoiceRows) {
        if (row.models != (masks ? ModelsFor::LeftToRight : ModelsFor::Masks) || !row.is_given(choices)) {
            continue;
        }
        std::string name = row.name;
        std::replace(name.begin(), name.end(), '_', file.empty() ? '-' : '_');
        const std::string problem =
            fmt::format("{} is for models that {}, but \"generation\" is \"{}\": leave it out",
                        file.empty() ? "--" + name : fmt::format("{}: \"{}\"", file, name),
                        masks ? "write from left to right" : "fill in masks", masks ? "mask_predict" : "left_to_right");
        if (file.empty()) {
            throw UsageError(problem);
        }
        throw Error(problem);
    }
}

DecodingChoices decoding_choices_of(const ModelDirectory& model) {
    return model.decoding ? parse_decoding_choices(*model.decoding, model.decoding_origin, &model) : DecodingChoices{};
}

DecodingChoices parse_decoding_choices(const nlohmann::json& json, const std::string& file,
                                       const ModelDirectory* model) {
    ConfigReader reader(json, file, "");
    DecodingChoices choices;
    for (const ChoiceRow& row : kChoiceRows) {
        row.read({reader, model, row.name}, choices);
    }
    reader.finish();
    if (model != nullptr) {
        check_choices(choices, model->config.generation, file);
    }
    return choices;
}

}  // namespace headscope

#include "infer/decoding_choices.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "infer/decoding_keys.h"
#include "infer/translation.h"
#include "io/config_reader.h"
#include "model/family.h"
#include "model/model_chat.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

// How a key is called where it is from: "--beam", or "decoding.json: \"beam\"".
std::string name_in(const std::string& origin, const DecodingKey& key, unsigned writer) {
    const std::string where = origin.empty() ? "" : origin + ": ";
    return origin.empty() && key.has_flag ? key.flag(writer) : fmt::format("{}\"{}\"", where, key.key);
}

[[noreturn]] void refuse(const std::string& origin, const std::string& problem) {
    if (origin.empty()) {
        throw UsageError(problem);
    }
    throw Error(problem);
}

bool is_chosen(const DecodingKey& key, const DecodingChoices& choices) {
    const nlohmann::json value = key.chosen(key, choices);
    return !value.is_null() && value != false;
}

// Error if a model does not obey what is called `name`: "--prefix is for models that write from left to right, but
// "generation" is "mask_predict": leave it out".
void require_obeyed(const std::string& origin, const std::string& name, unsigned writers, const ModelConfig& config) {
    const unsigned writer = writer_of(config);
    if ((writers & writer) != 0) {
        return;
    }
    const bool by_generation = writer != kCompletes && writer != 0 && writers != kCompletes;
    const char* wanted = writers == kMaskPredict         ? "models that fill in masks"
                         : writers == kLeftToRight       ? "models that write from left to right"
                         : writers == kTranslation       ? "translation models"
                         : writers == kTranslatesInOrder ? "translation models that write from left to right"
                         : writers == kCompletes         ? "causal language models"
                                                         : "models that translate or complete text";
    const std::string found = by_generation ? fmt::format("\"generation\" is \"{}\"",
                                                          writer == kMaskPredict ? "mask_predict" : "left_to_right")
                                            : fmt::format("this is a {}", name_of(config.architecture));
    refuse(origin, fmt::format("{} is for {}, but {}: leave it out", name, wanted, found));
}

constexpr const char* kRequest = "request";

// The options that have another value than by default. Sampling implies a beam of 1.
nlohmann::json set_in(const DecodingOptions& options, const ModelConfig& config) {
    DecodingOptions usual = default_decoding_options(config.architecture);
    usual.search.beam = options.search.sample ? 1 : usual.search.beam;
    nlohmann::json values = nlohmann::json::object();
    for (const DecodingKey& key : decoding_keys()) {
        nlohmann::json value = key.value(key, options);
        if (!value.is_null() && value != key.value(key, usual) && value != key.value(key, {})) {
            values[key.key] = std::move(value);
        }
    }
    return values;
}

}  // namespace

DecodingOptions DecodingChoices::applied_to(DecodingOptions options) const {
    SearchOptions& search = options.search;
    search.min_total = min_length ? 0 : search.min_total;
    search.beam = sample.value_or(search.sample) ? 1 : search.beam;
    for (const DecodingKey& key : decoding_keys()) {
        key.apply(*this, options);
    }
    return options;
}

DecodingOptions completion_options(DecodingChoices choices, const DecodingOptions& options) {
    if (choices.max_extra && !choices.max_length) {
        choices.max_length = 0;  // which counts the prompt
    }
    DecodingOptions decoding = choices.applied_to(options);
    SearchOptions& search = decoding.search;
    search.beam = search.sample ? search.beam : std::max(search.beam, search.n_best);
    check_search_options(search);
    return decoding;
}

SearchOptions DecodingChoices::over(SearchOptions options) const {
    return applied_to(DecodingOptions{.search = std::move(options)}).search;
}

void set_choices(DecodingChoices& choices, const nlohmann::json& values, const std::string& origin,
                 const ModelDirectory* model) {
    ConfigReader reader(values, origin, "");
    for (const DecodingKey& key : decoding_keys()) {
        if (!reader.has(key.key)) {
            continue;
        }
        const nlohmann::json& value = reader.child(key.key);
        try {
            key.read(key, {value, value.dump(), model}, choices);
        } catch (const Error& problem) {
            reader.fail(key.key, problem.what());
        }
    }
    reader.finish();
}

void set_choice(DecodingChoices& choices, const std::string& key, const std::string& text, const std::string& origin) {
    nlohmann::json value = text;
    for (const DecodingKey& known : decoding_keys()) {
        value = key == known.key ? json_of_text(known, text) : value;
    }
    set_choices(choices, nlohmann::json{{key, value}}, origin);
}

nlohmann::json to_json(const DecodingChoices& choices) {
    nlohmann::json values = nlohmann::json::object();
    for (const DecodingKey& key : decoding_keys()) {
        if (nlohmann::json value = key.chosen(key, choices); !value.is_null()) {
            values[key.key] = std::move(value);
        }
    }
    return values;
}

void check_choices(const DecodingChoices& choices, const std::string& origin) {
    for (const DecodingKey& key : decoding_keys()) {
        if (!is_chosen(key, choices)) {
            continue;
        }
        const auto name = [&](const DecodingKey& of) { return name_in(origin, of, kTranslation); };
        if (*key.needs != '\0' && !is_chosen(decoding_key(key.needs), choices)) {
            refuse(origin,
                   fmt::format("{} needs {}: without it, it has no effect", name(key), name(decoding_key(key.needs))));
        }
        for (const char* other : key.excludes) {
            if (other != nullptr && is_chosen(decoding_key(other), choices)) {
                refuse(origin, fmt::format("{} and {} contradict each other: leave one out", name(key),
                                           name(decoding_key(other))));
            }
        }
    }
}

void check_choices(const DecodingChoices& choices, const ModelConfig& config, const std::string& origin) {
    check_choices(choices, origin);
    const unsigned writer = writer_of(config);
    for (const DecodingKey& key : decoding_keys()) {
        if (!key.chosen(key, choices).is_null()) {
            require_obeyed(origin, name_in(origin, key, writer), key.writers, config);
        }
    }
}

void check_request(const std::vector<SourceLine>& lines, const DecodingOptions& options, const ModelConfig& config) {
    DecodingChoices chosen;
    set_choices(chosen, set_in(options, config), kRequest);
    check_choices(chosen, config, kRequest);
    if (std::ranges::any_of(lines, [](const SourceLine& line) { return !line.prefix.empty(); })) {
        require_obeyed(kRequest, "request: a prefix", kTranslatesInOrder, config);
    }
    if (options.rule_for != nullptr) {
        require_obeyed(kRequest, "request: a rule for the next piece", kTranslatesInOrder, config);
    }
    if (options.observer != nullptr) {
        require_obeyed(kRequest, "request: an attention observer", kLeftToRight, config);
    }
}

DecodingChoices decoding_choices_of(const ModelDirectory& model) {
    return model.decoding ? parse_decoding_choices(*model.decoding, model.decoding_origin, &model) : DecodingChoices{};
}

DecodingChoices parse_decoding_choices(const nlohmann::json& json, const std::string& file,
                                       const ModelDirectory* model) {
    DecodingChoices choices;
    nlohmann::json options = json;
    if (options.is_object() && options.contains(kChatKey)) {
        check_chat(options[kChatKey], file);
        if (model != nullptr) {
            require_obeyed(file, fmt::format("{}: \"{}\"", file, kChatKey), kCompletes, model->config);
        }
        options.erase(kChatKey);
    }
    set_choices(choices, options, file, model);
    for (const DecodingKey& key : decoding_keys()) {
        if (!key.of_model && !key.chosen(key, choices).is_null()) {
            throw Error(
                fmt::format("{}: \"{}\" is no choice of a model's author: it belongs to a request", file, key.key));
        }
    }
    if (model != nullptr) {
        check_choices(choices, model->config, file);
    }
    return choices;
}

}  // namespace headscope

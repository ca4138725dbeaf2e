// A model's decoding options as keys of Hugging Face's generation_config.json.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "import/hugging_face.h"

namespace headscope {

namespace {

using nlohmann::json;

// Options that both have in the same form, by our name and theirs.
constexpr std::pair<const char*, const char*> kSame[] = {{"early_stopping", "early_stopping"},
                                                         {"no_repeat_ngram", "no_repeat_ngram_size"},
                                                         {"no_source_ngram", "encoder_no_repeat_ngram_size"},
                                                         {"repetition_penalty", "repetition_penalty"},
                                                         {"source_repetition_penalty", "encoder_repetition_penalty"},
                                                         {"sequence_bias", "sequence_bias"},
                                                         {"bad_first", "begin_suppress_tokens"},
                                                         {"bad_words", "bad_words_ids"},
                                                         {"end_growth", "exponential_decay_length_penalty"},
                                                         {"renormalize", "renormalize_logits"},
                                                         {"ends", "eos_token_id"}};

// With ids in the place of pieces.
json with_ids(json value, const Vocabulary& vocabulary) {
    if (value.is_array()) {
        for (json& one : value) {
            one = one.is_string() ? json(vocabulary.find(one.get<std::string>()).value_or(-1))
                                  : with_ids(std::move(one), vocabulary);
        }
    }
    return value;
}

}  // namespace

json generation_options(const ModelDirectory& model) {
    const json choices = model.decoding != nullptr ? *model.decoding : json::object();
    json options = json::object();
    for (const auto& [ours, theirs] : kSame) {
        if (choices.contains(ours)) {
            options[theirs] = with_ids(choices[ours], model.target_tokenizer->vocabulary());
        }
    }
    const std::int64_t given = std::ssize(model.config.frame.target_begin);
    const std::int64_t least = choices.value("min_length", std::int64_t{1});  // as our search
    const bool causal = model.config.architecture == Architecture::CausalLm;
    const std::int64_t total = choices.value("min_total", std::int64_t{0});
    if (least > 0 || (total > 0 && !causal)) {
        options["min_new_tokens"] = std::max(least > 0 ? least + given : 0, causal ? 0 : total);
    } else if (total > 0) {
        options["min_length"] = total;
    }
    return options;
}

}  // namespace headscope

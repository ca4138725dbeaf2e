#include "import/format_limits.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/exporting.h"

namespace headscope {

namespace {

using nlohmann::json;

// What every writer writes, or what has no effect as long as the keys that decide about it have the values of absent
// ones.
constexpr std::initializer_list<const char*> kHeldByAll = {"format_version",
                                                           "architecture",
                                                           "encoder_layers",
                                                           "decoder_layers",
                                                           "d_model",
                                                           "d_ff",
                                                           "heads",
                                                           "max_length",
                                                           "source_vocabulary",
                                                           "target_vocabulary",
                                                           "pad_id",
                                                           "bos_id",
                                                           "eos_id",
                                                           "unk_id",
                                                           "mask_id",
                                                           "languages",
                                                           "attention_window",
                                                           "convolution_kernel",
                                                           "convolution_dilation",
                                                           "convolution_form",
                                                           "convolution_glu",
                                                           "bidirectional",
                                                           "position_columns",
                                                           "relative_buckets",
                                                           "relative_distance",
                                                           "experts_per_token",
                                                           "expert_capacity",
                                                           "adaptive_cutoffs",
                                                           "adaptive_factor"};

}  // namespace

FormatLimits::FormatLimits(const ModelConfig& config, Problems& problems)
    : config_(to_json(config)), problems_(problems) {
    hold(kHeldByAll);
    const std::int64_t depth = config.d_model / config.attention.heads;
    require("d_k", {depth});
    require("d_v", {depth});
}

void FormatLimits::hold(std::initializer_list<const char*> keys) {
    named_.insert(keys.begin(), keys.end());
}

void FormatLimits::require(const std::string& key, const std::vector<json>& accepted) {
    named_.insert(key);
    const json& value = config_.at(key);
    if (std::find(accepted.begin(), accepted.end(), value) == accepted.end()) {
        std::vector<std::string> texts;
        std::transform(accepted.begin(), accepted.end(), std::back_inserter(texts),
                       [](const json& one) { return one.dump(); });
        problems_.add("config.json",
                      fmt::format("\"{}\" is {}: the format holds {}", key, value.dump(), fmt::join(texts, " or ")));
    }
}

void FormatLimits::finish() {
    json known = config_;
    for (const auto& [key, value] : config_.items()) {
        if (!named_.contains(key)) {
            known.erase(key);
        }
    }
    const json usual = to_json(parse_model_config(known, "config.json"));
    for (const auto& [key, value] : config_.items()) {
        if (!named_.contains(key)) {
            require(key, {usual.at(key)});
        }
    }
}

void require_source_frame(const ModelDirectory& model, FormatLimits& limits, bool may_lack_end) {
    std::vector<json> ends{json::array({model.source_tokenizer->eos_id()})};
    if (may_lack_end) {
        ends.push_back(json::array());
    }
    limits.require("source_begin", {json::array(), json::array({"target_language"})});
    limits.require("source_end", ends);
}

void require_sentencepiece(const ModelDirectory& model, Problems& problems) {
    for (const auto& tokenizer : {model.source_tokenizer, model.target_tokenizer}) {
        if (!is_sentencepiece(*tokenizer)) {
            problems.add(tokenizer->name(), "has no SentencePiece model, which the format needs");
        }
    }
}

}  // namespace headscope

#include "import/format_limits.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/exporting.h"
#include "model/config_rows.h"

namespace headscope {

namespace {

using nlohmann::json;

// Every writer writes these, or adds what stands for them.
constexpr std::initializer_list<const char*> kHeldByAll = {
    "architecture",    "encoder_layers",    "decoder_layers",    "d_model",           "max_length",
    "attention.heads", "feed_forward.d_ff", "source_vocabulary", "target_vocabulary", "frame.pad_id",
    "frame.bos_id",    "frame.eos_id",      "frame.unk_id",      "frame.mask_id",     "frame.languages"};

}  // namespace

FormatLimits::FormatLimits(const ModelConfig& config, Problems& problems) : config_(config), problems_(problems) {
    hold(kHeldByAll);
    const std::int64_t depth = config.d_model / config.attention.heads;
    require("attention.d_k", {depth});
    require("attention.d_v", {depth});
}

void FormatLimits::hold(std::initializer_list<const char*> keys) {
    held_.insert(keys.begin(), keys.end());
}

void FormatLimits::require(const std::string& key, const std::vector<json>& accepted) {
    hold({key.c_str()});
    check(key, flat_model_keys(config_).at(key), accepted);
}

void FormatLimits::finish() {
    const json object = json::object();
    ConfigReader nothing(object, "config.json", "");
    for (const ConfigField<ModelConfig>& field : model_fields()) {
        if (!held_.contains(field.key)) {
            ModelConfig usual = field.set_default ? config_ : ModelConfig{};
            if (field.set_default) {
                field.set_default(nothing, usual);
            }
            check(field.key, field.write(config_), {field.write(usual)});
        }
    }
}

void FormatLimits::check(const std::string& key, const json& value, const std::vector<json>& accepted) {
    if (std::find(accepted.begin(), accepted.end(), value) == accepted.end()) {
        std::vector<std::string> texts;
        std::transform(accepted.begin(), accepted.end(), std::back_inserter(texts),
                       [](const json& one) { return one.dump(); });
        problems_.add("config.json",
                      fmt::format("\"{}\" is {}: the format holds {}", key, value.dump(), fmt::join(texts, " or ")));
    }
}

void require_source_frame(const ModelDirectory& model, FormatLimits& limits, bool may_lack_end) {
    std::vector<json> ends{json::array({model.source_tokenizer->eos_id()})};
    if (may_lack_end) {
        ends.push_back(json::array());
    }
    limits.require("frame.source_begin", {json::array(), json::array({"target_language"})});
    limits.require("frame.source_end", ends);
}

void require_sentencepiece(const ModelDirectory& model, Problems& problems) {
    for (const auto& tokenizer : {model.source_tokenizer, model.target_tokenizer}) {
        if (!is_sentencepiece(*tokenizer)) {
            problems.add(tokenizer->name(), "has no SentencePiece model, which the format needs");
        }
    }
}

}  // namespace headscope

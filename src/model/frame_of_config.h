// The tokens around texts, of a configuration and languages.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/frame.h"
#include "model/config.h"

namespace headscope {

// The languages of a text and its translation, keys of ModelConfig::languages, "" if not chosen; and what tells a model
// of several tasks which one a text is for, such as T5's "summarize: ": its pieces stand before those of the text.
struct Languages {
    std::string source = {}, target = {};
    std::string task_prefix = {};
    bool operator==(const Languages&) const = default;
};

// Whether the configuration needs the language that `word`, kSourceLanguage or kTargetLanguage, stands for.
bool needs_language(const ModelConfig& config, std::int32_t word);

// What fills up rows of ids: any id that both sides have.
std::int32_t padding_id(const ModelConfig& config);

// The types of the tokens of a masked language model's text: 0 up to its first end, 1 for the second text after that.
// Empty if the model does not distinguish them.
std::vector<std::int32_t> token_types_of(const ModelConfig& config, std::span<const std::int32_t> ids);

// How the model reads pictures, if those are its sources.
std::optional<PatchGrid> patches_of(const ModelConfig& config);

// Error for a language that is missing, unknown or not needed; lists those that the model has.
Frame frame_of(const ModelConfig& config, const Languages& languages = {});

}  // namespace headscope

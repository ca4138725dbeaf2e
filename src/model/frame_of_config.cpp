#include "model/frame_of_config.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"
#include "support/edit_distance.h"

namespace headscope {

namespace {

std::vector<std::string> names_of(const ModelConfig& config) {
    std::vector<std::string> names;
    for (const auto& [name, id] : config.frame.languages) {
        names.push_back(name);
    }
    return names;
}

// The id of a language's token, or -1 if the model needs no such language.
std::int32_t language_id(const ModelConfig& config, std::int32_t word, const char* side, const std::string& name) {
    const bool needed = needs_language(config, word);
    if (!needed && !name.empty()) {
        throw Error(fmt::format("this model takes no {} language, got \"{}\"", side, name));
    }
    if (!needed) {
        return -1;
    }
    const std::vector<std::string> names = names_of(config);
    if (name.empty()) {
        throw Error(fmt::format("this model needs a {0} language; choose one with --{0}-language: {1}", side,
                                fmt::join(names, ", ")));
    }
    if (const auto found = config.frame.languages.find(name); found != config.frame.languages.end()) {
        return found->second;
    }
    const std::string meant = nearest(name, names);
    throw Error(fmt::format("unknown {} language \"{}\"{} The model has: {}", side, name,
                            meant.empty() ? "." : fmt::format("; did you mean \"{}\"?", meant),
                            fmt::join(names, ", ")));
}

}  // namespace

bool needs_language(const ModelConfig& config, std::int32_t word) {
    return std::ranges::any_of(
        std::vector{&config.frame.source_begin, &config.frame.source_end, &config.frame.target_begin},
        [word](const auto* ids) { return std::ranges::find(*ids, word) != ids->end(); });
}

std::int32_t padding_id(const ModelConfig& config) {
    return config.frame.pad_id < config.source_vocabulary ? std::max(config.frame.pad_id, 0) : 0;
}

std::vector<std::int32_t> token_types_of(const ModelConfig& config, std::span<const std::int32_t> ids) {
    std::vector<std::int32_t> types(config.embedding.token_types > 1 ? ids.size() : 0, 1);
    const auto end = std::ranges::find(ids, config.frame.eos_id) - ids.begin();
    std::fill_n(types.begin(), std::min<std::ptrdiff_t>(end + 1, std::ssize(types)), 0);
    return types;
}

std::optional<PatchGrid> patches_of(const ModelConfig& config) {
    const InputConfig& input = config.input;
    if (!input.patches()) {
        return std::nullopt;
    }
    return PatchGrid{.shape = {.picture = input.picture, .patch = input.patch, .channels = input.channels},
                     .class_token = input.class_token,
                     .mean = {input.mean.begin(), input.mean.end()},
                     .deviation = {input.deviation.begin(), input.deviation.end()}};
}

Frame frame_of(const ModelConfig& config, const Languages& languages) {
    Frame frame{.pad = padding_id(config),
                .bos = config.frame.bos_id,
                .eos = config.frame.eos_id,
                .source_begin = config.frame.source_begin,
                .source_end = config.frame.source_end,
                .target_begin = config.frame.target_begin,
                .between = config.frame.between,
                .mask = config.generation == Generation::MaskPredict ? config.frame.mask_id : -1,
                .cluster_starts = config.output.adaptive.cutoffs,
                .patches = patches_of(config)};
    const std::int32_t source = language_id(config, kSourceLanguage, "source", languages.source);
    const std::int32_t target = language_id(config, kTargetLanguage, "target", languages.target);
    for (std::vector<std::int32_t>* ids : {&frame.source_begin, &frame.source_end, &frame.target_begin}) {
        std::ranges::replace(*ids, kSourceLanguage, source);
        std::ranges::replace(*ids, kTargetLanguage, target);
    }
    return frame;
}

}  // namespace headscope

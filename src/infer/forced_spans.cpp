#include "infer/forced_spans.h"

#include "model/frame_of_config.h"
#include "support/check.h"

namespace headscope {

std::vector<TextBlock> span_blocks(const TextVocabulary& vocabulary, std::int64_t longest,
                                   std::span<const std::vector<std::int32_t>> texts) {
    auto pieces = static_cast<std::size_t>(longest) - 1;  // the end follows
    while (pieces > 1 && spans_of(pieces) > vocabulary.sentinels.size()) {
        --pieces;
    }
    std::vector<TextBlock> blocks;
    for (std::size_t text = 0; text < texts.size(); ++text) {
        add_blocks(text, texts[text].size(), pieces, blocks);
    }
    return blocks;
}

std::vector<std::vector<ForcedToken>> force_spans(Context& ctx, const std::vector<const Model*>& models,
                                                  std::span<const std::vector<std::int32_t>> texts,
                                                  std::span<const TextBlock> blocks, const TextVocabulary& vocabulary,
                                                  std::int64_t first_number, const ForcedLimits& limits) {
    constexpr std::uint64_t kSeed = 1;
    HEADSCOPE_CHECK(!vocabulary.sentinels.empty(), "hidden spans need sentinels");
    std::vector<Example> examples;
    for (const TextBlock& block : blocks) {
        const std::span<const std::int32_t> pieces = texts[block.text];
        const auto stream = (static_cast<std::uint64_t>(first_number) + block.text) << 20U;
        examples.push_back(corrupt_spans(pieces.subspan(block.begin, block.end - block.begin), vocabulary,
                                         Random(kSeed, stream + block.index)));
    }
    std::vector<std::vector<ForcedToken>> tokens(texts.size());
    const auto forced = force_targets(ctx, models, examples, limits, frame_of(models.front()->config()));
    for (std::size_t i = 0; i < forced.size(); ++i) {
        std::vector<ForcedToken>& of_text = tokens[blocks[i].text];
        of_text.insert(of_text.end(), forced[i].begin(), forced[i].end());
    }
    return tokens;
}

}  // namespace headscope

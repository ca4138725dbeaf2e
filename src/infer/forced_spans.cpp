#include "infer/forced_spans.h"

#include <algorithm>

#include "model/frame_of_config.h"
#include "support/check.h"

namespace headscope {

namespace {

// Pieces of a block: with the end they fit the models, and the sentinels suffice.
std::size_t longest_block(const std::vector<const Model*>& models, std::size_t sentinels) {
    std::int64_t longest = models.front()->config().max_length;
    for (const Model* model : models) {
        longest = std::min(longest, model->config().max_length);
    }
    auto pieces = static_cast<std::size_t>(longest) - 1;
    while (pieces > 1 && spans_of(pieces) > sentinels) {
        --pieces;
    }
    return pieces;
}

}  // namespace

std::vector<std::vector<ForcedToken>> force_spans(Context& ctx, const std::vector<const Model*>& models,
                                                  std::span<const std::vector<std::int32_t>> texts,
                                                  const TextVocabulary& vocabulary, std::int64_t first_number,
                                                  const ForcedLimits& limits) {
    constexpr std::uint64_t kSeed = 1;
    HEADSCOPE_CHECK(!vocabulary.sentinels.empty(), "hidden spans need sentinels");
    const std::size_t longest = longest_block(models, vocabulary.sentinels.size());
    std::vector<Example> examples;
    std::vector<std::size_t> texts_of;  // of the examples
    for (std::size_t text = 0; text < texts.size(); ++text) {
        const std::span<const std::int32_t> pieces = texts[text];
        const std::size_t blocks = pieces.empty() ? 0 : (pieces.size() - 1) / longest + 1;
        for (std::size_t block = 0; block < blocks; ++block) {
            const std::size_t begin = block * pieces.size() / blocks;
            const std::size_t end = (block + 1) * pieces.size() / blocks;
            const auto stream = (static_cast<std::uint64_t>(first_number) + text) << 20U;
            examples.push_back(
                corrupt_spans(pieces.subspan(begin, end - begin), vocabulary, Random(kSeed, stream + block)));
            texts_of.push_back(text);
        }
    }
    std::vector<std::vector<ForcedToken>> tokens(texts.size());
    const auto forced = force_targets(ctx, models, examples, limits, frame_of(models.front()->config()));
    for (std::size_t i = 0; i < forced.size(); ++i) {
        tokens[texts_of[i]].insert(tokens[texts_of[i]].end(), forced[i].begin(), forced[i].end());
    }
    return tokens;
}

}  // namespace headscope

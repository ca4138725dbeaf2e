#include "infer/forced_text.h"

#include <algorithm>
#include <utility>

#include "data/batch.h"
#include "model/family.h"
#include "model/frame_of_config.h"
#include "support/check.h"

namespace headscope {

namespace {

using Ids = std::span<const std::int32_t>;

std::vector<std::int32_t> copy_of(Ids ids) {
    return {ids.begin(), ids.end()};
}

// Each id, labelled with the next one.
void add_causal(Ids ids, std::size_t begin, std::size_t end, std::vector<Example>& examples) {
    examples.push_back(
        {.target = copy_of(ids.subspan(begin, end - begin)), .labels = copy_of(ids.subspan(begin + 1, end - begin))});
}

// A copy for each piece, which is masked.
void add_masked(Ids ids, Ids types, std::size_t begin, std::size_t end, std::int32_t mask,
                std::vector<Example>& examples) {
    for (std::size_t at = std::max<std::size_t>(begin, 1); at < std::min(end, ids.size() - 1); ++at) {
        Example copy{.target = copy_of(ids.subspan(begin, end - begin)),
                     .labels = std::vector<std::int32_t>(end - begin, kNoTarget),
                     .types = types.empty() ? std::vector<std::int32_t>() : copy_of(types.subspan(begin, end - begin))};
        copy.labels[at - begin] = std::exchange(copy.target[at - begin], mask);
        examples.push_back(std::move(copy));
    }
}

}  // namespace

std::vector<std::vector<ForcedToken>> force_texts(Context& ctx, const std::vector<const Model*>& models,
                                                  std::span<const std::vector<std::int32_t>> texts,
                                                  const ForcedLimits& limits) {
    constexpr std::size_t kExamplesAtOnce = 4096;  // enough for batches of similar lengths
    const ModelConfig& config = models.front()->config();
    HEADSCOPE_CHECK(!traits(config.architecture).reads_source, "a translation model needs sources");
    const Frame frame = frame_of(config);
    const bool masked = traits(config.architecture).fills_masks;
    std::int64_t longest = config.max_length;
    for (const Model* model : models) {
        longest = std::min(longest, model->config().max_length);
    }
    std::vector<std::vector<ForcedToken>> tokens(texts.size());
    std::vector<Example> examples;
    std::vector<std::size_t> texts_of;  // of the examples
    const auto force = [&] {
        const auto forced = force_targets(ctx, models, examples, limits, frame);
        for (std::size_t i = 0; i < forced.size(); ++i) {
            tokens[texts_of[i]].insert(tokens[texts_of[i]].end(), forced[i].begin(), forced[i].end());
        }
        examples.clear();
        texts_of.clear();
    };
    for (std::size_t text = 0; text < texts.size(); ++text) {
        std::vector<std::int32_t> ids = frame.start_of_text();
        ids.insert(ids.end(), texts[text].begin(), texts[text].end());
        ids.push_back(config.eos_id);
        const std::vector<std::int32_t> types = token_types_of(config, ids);
        const std::size_t positions = masked ? ids.size() : ids.size() - 1;  // a causal model never reads eos
        if (positions == 0) {
            continue;
        }
        const std::size_t blocks = (positions - 1) / static_cast<std::size_t>(longest) + 1;
        for (std::size_t block = 0; block < blocks; ++block) {
            const std::size_t begin = block * positions / blocks;
            const std::size_t end = (block + 1) * positions / blocks;
            if (masked) {
                add_masked(ids, types, begin, end, config.mask_id, examples);
            } else {
                add_causal(ids, begin, end, examples);
            }
            texts_of.resize(examples.size(), text);
            if (examples.size() >= kExamplesAtOnce) {
                force();
            }
        }
    }
    force();
    return tokens;
}

}  // namespace headscope

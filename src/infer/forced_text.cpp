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

std::int64_t longest_of(const std::vector<const Model*>& models) {
    std::int64_t longest = models.front()->config().max_length;
    for (const Model* model : models) {
        longest = std::min(longest, model->config().max_length);
    }
    return longest;
}

}  // namespace

void add_blocks(std::size_t text, std::size_t positions, std::size_t longest, std::vector<TextBlock>& blocks) {
    const std::size_t count = (positions + longest - 1) / longest;
    for (std::size_t i = 0; i < count; ++i) {
        blocks.push_back(
            {.text = text, .index = i, .begin = i * positions / count, .end = (i + 1) * positions / count});
    }
}

std::vector<TextBlock> text_blocks(const ModelConfig& config, std::int64_t longest,
                                   std::span<const std::vector<std::int32_t>> texts) {
    // With eos, which a causal model never reads.
    const std::size_t around =
        frame_of(config).start_of_text().size() + (traits(config.architecture).fills_masks ? 1 : 0);
    std::vector<TextBlock> blocks;
    for (std::size_t text = 0; text < texts.size(); ++text) {
        add_blocks(text, texts[text].size() + around, static_cast<std::size_t>(longest), blocks);
    }
    return blocks;
}

ForcedTexts::ForcedTexts(Context& ctx, std::vector<const Model*> models,
                         std::span<const std::vector<std::int32_t>> texts, std::vector<TextBlock> blocks,
                         const ForcedLimits& limits)
    : ForcedSession(texts.size()),
      ctx_(ctx),
      models_(std::move(models)),
      texts_(texts),
      limits_(limits),
      frame_(frame_of(models_.front()->config())),
      blocks_(std::move(blocks)) {
    HEADSCOPE_CHECK(!traits(models_.front()->config().architecture).reads_source, "a translation model needs sources");
    begin_some();
}

ForcedTexts::ForcedTexts(Context& ctx, const std::vector<const Model*>& models,
                         std::span<const std::vector<std::int32_t>> texts, const ForcedLimits& limits)
    : ForcedTexts(ctx, models, texts, text_blocks(models.front()->config(), longest_of(models), texts), limits) {}

bool ForcedTexts::step() {
    if (!batches_) {
        return false;
    }
    if (batches_->step()) {
        return true;
    }
    tokens_ += batches_->tokens();
    const auto forced = batches_->take();
    for (std::size_t i = 0; i < forced.size(); ++i) {
        std::vector<ForcedToken>& tokens = results_[texts_of_[i]];
        tokens.insert(tokens.end(), forced[i].begin(), forced[i].end());
    }
    return begin_some();
}

// The examples of the next blocks, enough for batches of similar lengths. False if no block is left.
bool ForcedTexts::begin_some() {
    constexpr std::size_t kExamplesAtOnce = 4096;
    batches_.reset();
    examples_.clear();
    texts_of_.clear();
    while (next_ < blocks_.size() && examples_.size() < kExamplesAtOnce) {
        add(blocks_[next_++]);
    }
    if (!examples_.empty()) {
        batches_.emplace(ctx_, models_, examples_, limits_, frame_);
    }
    return batches_.has_value();
}

void ForcedTexts::add(const TextBlock& block) {
    const ModelConfig& config = models_.front()->config();
    std::vector<std::int32_t> ids = frame_.start_of_text();
    ids.insert(ids.end(), texts_[block.text].begin(), texts_[block.text].end());
    ids.push_back(config.frame.eos_id);
    if (traits(config.architecture).fills_masks) {
        add_masked(ids, token_types_of(config, ids), block.begin, block.end, config.frame.mask_id, examples_);
    } else {
        add_causal(ids, block.begin, block.end, examples_);
    }
    texts_of_.resize(examples_.size(), block.text);
}

std::vector<std::vector<ForcedToken>> force_texts(Context& ctx, const std::vector<const Model*>& models,
                                                  std::span<const std::vector<std::int32_t>> texts,
                                                  const ForcedLimits& limits) {
    ForcedTexts session(ctx, models, texts, limits);
    finish(session);
    return session.take();
}

}  // namespace headscope

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

ForcedTexts::ForcedTexts(Context& ctx, std::vector<const Model*> models,
                         std::span<const std::vector<std::int32_t>> texts, const ForcedLimits& limits)
    : ForcedSession(texts.size()),
      ctx_(ctx),
      models_(std::move(models)),
      texts_(texts),
      limits_(limits),
      frame_(frame_of(models_.front()->config())),
      longest_(models_.front()->config().max_length) {
    HEADSCOPE_CHECK(!traits(models_.front()->config().architecture).reads_source, "a translation model needs sources");
    for (const Model* model : models_) {
        longest_ = std::min(longest_, model->config().max_length);
    }
    begin_some();
}

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

// The examples of the next texts, enough for batches of similar lengths. False if no text is left.
bool ForcedTexts::begin_some() {
    constexpr std::size_t kExamplesAtOnce = 4096;
    batches_.reset();
    examples_.clear();
    texts_of_.clear();
    while (next_ < texts_.size() && examples_.size() < kExamplesAtOnce) {
        add_block();
    }
    if (!examples_.empty()) {
        batches_.emplace(ctx_, models_, examples_, limits_, frame_);
    }
    return batches_.has_value();
}

// The next block of a text, or the end of a text.
void ForcedTexts::add_block() {
    const ModelConfig& config = models_.front()->config();
    const bool masked = traits(config.architecture).fills_masks;
    std::vector<std::int32_t> ids = frame_.start_of_text();
    ids.insert(ids.end(), texts_[next_].begin(), texts_[next_].end());
    ids.push_back(config.frame.eos_id);
    const std::vector<std::int32_t> types = token_types_of(config, ids);
    const std::size_t positions = masked ? ids.size() : ids.size() - 1;  // a causal model never reads eos
    const auto longest = static_cast<std::size_t>(longest_);
    const std::size_t blocks = (positions + longest - 1) / longest;
    if (block_ < blocks) {
        const std::size_t begin = block_ * positions / blocks;
        const std::size_t end = (block_ + 1) * positions / blocks;
        if (masked) {
            add_masked(ids, types, begin, end, config.frame.mask_id, examples_);
        } else {
            add_causal(ids, begin, end, examples_);
        }
        texts_of_.resize(examples_.size(), next_);
        ++block_;
    }
    if (block_ >= blocks) {
        ++next_;
        block_ = 0;
    }
}

std::vector<std::vector<ForcedToken>> force_texts(Context& ctx, const std::vector<const Model*>& models,
                                                  std::span<const std::vector<std::int32_t>> texts,
                                                  const ForcedLimits& limits) {
    ForcedTexts session(ctx, models, texts, limits);
    finish(session);
    return session.take();
}

}  // namespace headscope

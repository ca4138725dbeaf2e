#include "infer/scored_pair.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "infer/forced_text.h"
#include "infer/framed_line.h"
#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

// `around`: tokens that the model reads or predicts around the pieces. `longest` 0: any length.
std::vector<std::int32_t> encode_side(const Tokenizer& tokenizer, std::string_view text, const char* side,
                                      std::int64_t longest, std::int64_t around) {
    std::vector<std::int32_t> ids;
    try {
        ids = tokenizer.encode(text);
    } catch (const Error& error) {
        throw Error(fmt::format("the {}: {}", side, error.what()));
    }
    if (const auto length = std::ssize(ids) + around; longest > 0 && length > longest) {
        throw Error(fmt::format("the {} has {} pieces including its end{}, but the model takes at most {}", side,
                                length, around > 1 ? "s" : "", longest));
    }
    return ids;
}

Example encode_pair(const LoadedModel& translator, const std::string& source, const std::string& target,
                    const Languages& languages) {
    const ModelDirectory& model = translator.model();
    const FramedLine line = frame_line(model, languages, source);
    Example pair{
        encode_side(*model.source_tokenizer, line.text, "source", line.frame.patches ? 0 : translator.longest(),
                    line.frame.around_source()),
        encode_side(*model.target_tokenizer, target, "target", translator.longest(), line.frame.around_target())};
    if (pair.source.empty()) {
        throw Error("the source is empty");
    }
    pair.source_begin = line.frame.source_begin;
    return pair;
}

std::vector<std::int32_t> encode_text(const LoadedModel& translator, const std::string& text) {
    const ModelConfig& config = translator.model().config;
    const bool masked = traits(config.architecture).fills_masks;
    std::vector<std::int32_t> ids =
        encode_side(*translator.model().target_tokenizer, text, "text", translator.longest(),
                    masked                     ? 2
                    : config.frame.bos_id >= 0 ? 1
                                               : 0);
    if (masked && ids.empty()) {
        throw Error("the text is empty: it has no piece to mask");
    }
    if (config.frame.bos_id < 0 && ids.empty()) {
        throw Error("the text is empty: the model's texts start with a piece");
    }
    return ids;
}

}  // namespace

ScoreSession::ScoreSession(Context& ctx, const LoadedModel& translator, const std::vector<std::string>& sources,
                           const std::vector<std::string>& targets, std::int64_t batch_tokens,
                           const Languages& languages, int alternatives)
    : scored_(sources.size()) {
    HEADSCOPE_CHECK(sources.size() == targets.size(), "sources and targets must have the same size");
    for (std::size_t i = 0; i < sources.size(); ++i) {
        try {
            add(translator, sources[i], targets[i], languages, scored_[i]);
            places_.push_back(i);
        } catch (const Error& error) {
            scored_[i].problem = error.what();
        }
    }
    const ForcedLimits limits{.batch_tokens = batch_tokens, .alternatives = alternatives};
    if (traits(translator.model().config.architecture).reads_source) {
        forced_ = std::make_unique<ForcedTargets>(ctx, translator.models(), pairs_, limits,
                                                  any_frame(translator.model(), languages));
    } else {
        forced_ = std::make_unique<ForcedTexts>(ctx, translator.models(), texts_, limits);
    }
}

// Encodes a pair. Error if it has no score.
void ScoreSession::add(const LoadedModel& translator, const std::string& source, const std::string& target,
                       const Languages& languages, ScoredPair& scored) {
    const ModelConfig& config = translator.model().config;
    if (traits(config.architecture).reads_source) {
        pairs_.push_back(encode_pair(translator, source, target, languages));
        scored.target_ids = pairs_.back().target;
    } else {
        texts_.push_back(encode_text(translator, target));
        scored.target_ids = texts_.back();
    }
    scored.empty = scored.target_ids.empty();
    scored.unknown = std::ranges::find(scored.target_ids, config.frame.unk_id) != scored.target_ids.end();
    if (!traits(config.architecture).fills_masks) {
        scored.target_ids.push_back(config.frame.eos_id);
    }
    if (traits(config.architecture).continues_text && config.frame.bos_id < 0) {
        scored.target_ids.erase(scored.target_ids.begin());  // given
    }
}

std::vector<ScoredPair> ScoreSession::take() {
    const auto forced = forced_->take();
    for (std::size_t i = 0; i < places_.size(); ++i) {
        ScoredPair& pair = scored_[places_[i]];
        for (const ForcedToken& token : forced[i]) {
            pair.log_probabilities.push_back(token.log_probability);
            if (!token.alternatives.empty()) {
                pair.alternatives.push_back(token.alternatives);
            }
        }
        pair.log_probability = std::accumulate(pair.log_probabilities.begin(), pair.log_probabilities.end(), 0.0);
        if (!std::isfinite(pair.log_probability)) {
            pair.problem =
                "the model's probabilities are NaN or infinite: its weights are damaged, or training "
                "diverged";
        }
    }
    return std::move(scored_);
}

}  // namespace headscope

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

// `around`: tokens that the model reads or predicts around the pieces.
std::vector<std::int32_t> encode_side(const Tokenizer& tokenizer, std::string_view text, const char* side,
                                      std::int64_t longest, std::int64_t around) {
    std::vector<std::int32_t> ids;
    try {
        ids = tokenizer.encode(text);
    } catch (const Error& error) {
        throw Error(fmt::format("the {}: {}", side, error.what()));
    }
    if (const auto length = std::ssize(ids) + around; length > longest) {
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
        encode_side(*model.source_tokenizer, line.text, "source", translator.longest(), line.frame.around_source()),
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
                    masked               ? 2
                    : config.bos_id >= 0 ? 1
                                         : 0);
    if (masked && ids.empty()) {
        throw Error("the text is empty: it has no piece to mask");
    }
    if (config.bos_id < 0 && ids.empty()) {
        throw Error("the text is empty: the model's texts start with a piece");
    }
    return ids;
}

}  // namespace

std::vector<ScoredPair> score_pairs(Context& ctx, const LoadedModel& translator,
                                    const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                    std::int64_t batch_tokens, const Languages& languages) {
    HEADSCOPE_CHECK(sources.size() == targets.size(), "sources and targets must have the same size");
    const ModelConfig& config = translator.model().config;
    const bool translates = traits(config.architecture).reads_source;
    std::vector<ScoredPair> scored(sources.size());
    std::vector<Example> pairs;
    std::vector<std::vector<std::int32_t>> texts;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        try {
            if (translates) {
                pairs.push_back(encode_pair(translator, sources[i], targets[i], languages));
            } else {
                texts.push_back(encode_text(translator, targets[i]));
            }
        } catch (const Error& error) {
            scored[i].problem = error.what();
            continue;
        }
        places.push_back(i);
        std::vector<std::int32_t>& target = scored[i].target_ids;
        target = translates ? pairs.back().target : texts.back();
        scored[i].empty = target.empty();
        scored[i].unknown = std::find(target.begin(), target.end(), config.unk_id) != target.end();
        if (!traits(config.architecture).fills_masks) {
            target.push_back(config.eos_id);
        }
        if (traits(config.architecture).continues_text && config.bos_id < 0) {
            target.erase(target.begin());  // given
        }
    }
    const ForcedLimits limits{.batch_tokens = batch_tokens};
    const Frame frame = any_frame(translator.model(), languages);
    const auto forced = translates ? force_targets(ctx, translator.models(), pairs, limits, frame)
                                   : force_texts(ctx, translator.models(), texts, limits);
    for (std::size_t i = 0; i < places.size(); ++i) {
        ScoredPair& pair = scored[places[i]];
        std::transform(forced[i].begin(), forced[i].end(), std::back_inserter(pair.log_probabilities),
                       [](const ForcedToken& token) { return token.log_probability; });
        pair.log_probability = std::accumulate(pair.log_probabilities.begin(), pair.log_probabilities.end(), 0.0);
        if (!std::isfinite(pair.log_probability)) {
            pair.problem =
                "the model's probabilities are NaN or infinite: its weights are damaged, or training "
                "diverged";
        }
    }
    return scored;
}

}  // namespace headscope

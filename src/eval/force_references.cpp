#include "eval/force_references.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "data/corpus.h"
#include "infer/framed_line.h"
#include "infer/teacher_forced.h"
#include "support/check.h"

namespace headscope {

namespace {

std::optional<Example> encode_pair(const LoadedModel& translator, const std::string& source,
                                   const std::string& reference, const Languages& languages) {
    const ModelDirectory& model = translator.model();
    try {
        const FramedLine line = frame_line(model, languages, source);
        Example pair{model.source_tokenizer->encode(line.text), model.target_tokenizer->encode(reference)};
        pair.source_begin = line.frame.source_begin;
        if (!pair.source.empty() && !pair.target.empty() &&
            line.frame.source_positions(std::ssize(pair.source)) <= translator.longest() &&
            std::ssize(pair.target) + line.frame.around_target() <= translator.longest()) {
            return pair;
        }
    } catch (const Error&) {  // not UTF-8, or an unknown language
        return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

void ForcedReferences::add(const ForcedPairs& pairs) {
    for (const std::vector<ForcedToken>& target : pairs.targets) {
        for (const ForcedToken& token : target) {
            statistics.add(token);
        }
    }
    left_out += pairs.left_out;
}

ForcedPairs force_pairs(Context& ctx, const LoadedModel& translator, std::span<const std::string> sources,
                        std::span<const std::string> references, const Languages& languages,
                        const ForcedLimits& limits) {
    std::vector<Example> pairs;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        if (auto pair = encode_pair(translator, sources[i], references[i], languages)) {
            pairs.push_back(std::move(*pair));
        }
    }
    return {.targets = force_targets(ctx, translator.models(), pairs, limits, any_frame(translator.model(), languages)),
            .left_out = sources.size() - pairs.size()};
}

ForcedReferences force_references(Backend& backend, const LoadedModel& translator,
                                  const std::vector<std::string>& sources,
                                  const std::vector<std::vector<std::string>>& references,
                                  const DecodingOptions& options) {
    constexpr std::size_t kPairsAtOnce = 4096;  // enough for batches of similar lengths; 10 MB of tokens
    ForcedReferences result;
    Context ctx{.backend = backend, .compute = options.compute};
    for (const std::vector<std::string>& reference : references) {
        HEADSCOPE_CHECK(reference.size() == sources.size(), "sources and references must have the same size");
        for (std::size_t first = 0; first < sources.size(); first += kPairsAtOnce) {
            const std::size_t some = std::min(kPairsAtOnce, sources.size() - first);
            result.add(force_pairs(ctx, translator, std::span(sources).subspan(first, some),
                                   std::span(reference).subspan(first, some), options.search.languages,
                                   {.batch_tokens = options.batch_tokens, .logit_gaps = true}));
        }
    }
    return result;
}

}  // namespace headscope

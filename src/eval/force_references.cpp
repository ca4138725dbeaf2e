#include "eval/force_references.h"

#include <cstdint>
#include <optional>

#include "data/corpus.h"
#include "infer/framed_line.h"
#include "infer/teacher_forced.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr std::size_t kPairsAtOnce = 4096;  // enough for batches of similar lengths; 10 MB of tokens

std::optional<Example> encode_pair(const LoadedModel& translator, const std::string& source,
                                   const std::string& reference, const Languages& languages) {
    const ModelDirectory& model = translator.model();
    try {
        const FramedLine line = frame_line(model, languages, source);
        Example pair{model.source_tokenizer->encode(line.text), model.target_tokenizer->encode(reference)};
        pair.source_begin = line.frame.source_begin;
        if (!pair.source.empty() && !pair.target.empty() &&
            std::ssize(pair.source) + line.frame.around_source() <= translator.longest() &&
            std::ssize(pair.target) + line.frame.around_target() <= translator.longest()) {
            return pair;
        }
    } catch (const Error&) {  // not UTF-8, or an unknown language
        return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

ForcedReferences force_references(Backend& backend, const LoadedModel& translator,
                                  const std::vector<std::string>& sources,
                                  const std::vector<std::vector<std::string>>& references,
                                  const DecodingOptions& options,
                                  const std::function<void(std::size_t pairs)>& progress) {
    ForcedReferences result;
    std::vector<Example> pairs;
    std::size_t scored = 0;
    const Frame frame = any_frame(translator.model(), options.search.languages);
    const auto force = [&] {
        Context ctx{.backend = backend, .compute = options.compute};
        const ForcedLimits limits{.batch_tokens = options.batch_tokens};
        ForcedTargets forced(ctx, translator.models(), pairs, limits, frame);
        do {
            if (progress) {
                progress(scored);
            }
        } while (forced.step());
        for (const auto& sentence : forced.take()) {
            for (const ForcedToken& token : sentence) {
                result.statistics.add(token);
            }
        }
        scored += pairs.size();
        pairs.clear();
        if (progress) {
            progress(scored);
        }
    };
    for (const std::vector<std::string>& reference : references) {
        HEADSCOPE_CHECK(reference.size() == sources.size(), "sources and references must have the same size");
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (auto pair = encode_pair(translator, sources[i], reference[i], options.search.languages)) {
                pairs.push_back(std::move(*pair));
            } else {
                ++result.left_out;
            }
            if (pairs.size() == kPairsAtOnce) {
                force();
            }
        }
    }
    force();
    return result;
}

}  // namespace headscope

#include "eval/force_references.h"

#include <cstdint>
#include <optional>

#include "data/corpus.h"
#include "infer/teacher_forced.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr std::size_t kPairsAtOnce = 4096;  // enough for batches of similar lengths; 10 MB of tokens

std::optional<Pair> encode_pair(const Translator& translator, const std::string& source, const std::string& reference) {
    const ModelDirectory& model = translator.model();
    try {
        Pair pair{model.source_tokenizer->encode(source), model.target_tokenizer->encode(reference)};
        const auto room = static_cast<std::size_t>(translator.longest() - 1);  // without eos
        if (!pair.source.empty() && !pair.target.empty() && pair.source.size() <= room && pair.target.size() <= room) {
            return pair;
        }
    } catch (const Error&) {  // not UTF-8
        return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

ForcedReferences force_references(Backend& backend, const Translator& translator,
                                  const std::vector<std::string>& sources,
                                  const std::vector<std::vector<std::string>>& references,
                                  const TranslationOptions& options) {
    ForcedReferences result;
    std::vector<Pair> pairs;
    const auto force = [&] {
        Context ctx{.backend = backend, .compute = options.compute};
        const ForcedLimits limits{.batch_tokens = options.batch_tokens};
        for (const auto& sentence : force_targets(ctx, translator.models(), pairs, limits)) {
            for (const ForcedToken& token : sentence) {
                result.statistics.add(token);
            }
        }
        pairs.clear();
    };
    for (const std::vector<std::string>& reference : references) {
        HEADSCOPE_CHECK(reference.size() == sources.size(), "sources and references must have the same size");
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (auto pair = encode_pair(translator, sources[i], reference[i])) {
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

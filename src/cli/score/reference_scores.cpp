#include "cli/score/reference_scores.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "engine/in_order.h"
#include "options/progress.h"

namespace headscope {

ForcedReferences score_references(OpenedEngine& opened, const std::vector<std::string>& sources,
                                  const std::vector<std::vector<std::string>>& references,
                                  const DecodingOptions& options, double temperature) {
    struct Part {
        std::span<const std::string> sources, references;
        std::int64_t tokens = 0;
    };
    ForcedReferences forced;
    ProgressMeter progress("reference", std::ssize(references) * std::ssize(sources));
    progress.done(0, "probabilities of the references");
    std::size_t reference = 0, first = 0;
    const auto next = [&]() -> std::optional<Part> {
        if (first == sources.size()) {
            first = 0;
            ++reference;
        }
        if (reference == references.size()) {
            return std::nullopt;
        }
        PartSize size(options.batch_tokens);
        const std::vector<std::string>& targets = references[reference];
        std::size_t end = first;
        for (; end < sources.size() && !size.full(); ++end) {
            size.add(std::max(pieces_of(sources[end]), pieces_of(targets[end])));
        }
        const std::size_t begin = std::exchange(first, end);
        return Part{std::span(sources).subspan(begin, end - begin), std::span(targets).subspan(begin, end - begin),
                    size.tokens()};
    };
    const auto request_of = [&](const Part& part) {
        return RunRequest<ForcedPairs>{
            .run =
                [&](const Place& place) {
                    Context ctx{.backend = place.backend, .compute = place.compute};
                    return force_pairs(
                        ctx, place.model, part.sources, part.references, options.search.languages,
                        {.batch_tokens = options.batch_tokens, .logit_gaps = true, .temperature = temperature});
                },
            .tokens = part.tokens};
    };
    ask_in_order(opened.engine, opened.model, next, request_of, [&](const Part& part, const ForcedPairs& pairs) {
        forced.add(pairs);
        progress.add(std::ssize(part.sources));
    });
    return forced;
}

}  // namespace headscope

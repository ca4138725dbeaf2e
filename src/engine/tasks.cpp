// How devices answer requests other than text.
#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "engine/task_job.h"
#include "explore/checked_request.h"
#include "explore/edited_scores.h"
#include "explore/editing_observer.h"
#include "explore/explorer.h"
#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

// Decides when to tell a partial result: at most every kLeast, and rarely enough that copying it takes at most a fifth
// of the time.
class Pace {
public:
    bool due() const { return Clock::now() - shown_ >= std::max<Clock::duration>(kLeast, 4 * cost_); }
    template <class Show>
    void show(const Show& show) {
        const Clock::time_point start = Clock::now();
        show();
        shown_ = Clock::now();
        cost_ = shown_ - start;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kLeast{15};
    Clock::time_point shown_{};
    Clock::duration cost_{};
};

void require_no_languages(const Languages& languages, const ModelDirectory& model) {
    if (!(languages == Languages{}) && !traits(model.config.architecture).reads_source) {
        throw Error(fmt::format("request: languages are for translation models, but this is a {}: leave them out",
                                name_of(model.config.architecture)));
    }
}

}  // namespace

std::int64_t pieces_of(const std::string& text) {
    constexpr std::int64_t kBytesPerPiece = 4;
    return 1 + std::ssize(text) / kBytesPerPiece;
}

void require_obeyed(const FillRequest& request, const ModelDirectory& model) {
    if (request.one_by_one && fills_gaps(model)) {
        throw Error(
            "request: \"one_by_one\" is for masked language models, but this model writes all gaps in one pass: leave "
            "it out");
    }
    if (!request.edits.empty() && fills_gaps(model)) {
        throw Error("request: edits are for masked language models, but this model writes its gaps: leave them out");
    }
    check_edits(model.config, request.edits);
}

void require_obeyed(const ScoreRequest& request, const ModelDirectory& model) {
    require_no_languages(request.languages, model);
    check_edits(model.config, request.edits);
    if (request.sources.size() != request.targets.size()) {
        throw Error(
            fmt::format("request: {} sources and {} targets: give each target its source, which is empty for a "
                        "language model",
                        request.sources.size(), request.targets.size()));
    }
    const bool has_source = !std::ranges::all_of(request.sources, &std::string::empty);
    if (has_source && !traits(model.config.architecture).reads_source) {
        throw Error(fmt::format("request: sources are for translation models, but this is a {}: leave them empty",
                                name_of(model.config.architecture)));
    }
}

void require_obeyed(const EmbedRequest& request, const ModelDirectory& model) {
    require_no_languages(request.options.languages, model);
    check_vector_options(request.options, model.config);
    check_edits(model.config, request.options.edits);
}

void require_obeyed(const SaliencyRequest& request, const ModelDirectory& /*model*/) {
    if (request.steps < 1) {
        throw Error(fmt::format("request: \"steps\" must be at least 1, got {}", request.steps));
    }
}

std::int64_t cost_of(const FillRequest& request) {
    return pieces_of(request.text);
}

std::int64_t cost_of(const ScoreRequest& request) {
    std::int64_t tokens = 0;
    for (const auto* side : {&request.sources, &request.targets}) {
        for (const std::string& text : *side) {
            tokens += pieces_of(text);
        }
    }
    return tokens;
}

std::int64_t cost_of(const LookRequest& request) {
    return pieces_of(request.explore.source);
}

std::int64_t cost_of(const ImportanceRequest& request) {
    return pieces_of(request.explore.source);
}

std::int64_t cost_of(const SaliencyRequest& request) {
    return pieces_of(request.explore.source) * std::max(request.steps, 1);
}

std::int64_t cost_of(const LensRequest& request) {
    return pieces_of(request.explore.source);
}

std::int64_t cost_of(const PatchRequest& request) {
    return pieces_of(request.patching.text.source) + pieces_of(request.patching.from);
}

std::int64_t cost_of(const EmbedRequest& request) {
    std::int64_t tokens = 0;
    for (const std::string& text : request.texts) {
        tokens += pieces_of(text);
    }
    return tokens;
}

Steps<FillRequest> begin(const FillRequest& request, const Place& place, const Teller<FillRequest>& /*teller*/) {
    const ModelDirectory& model = place.model.model();
    if (fills_gaps(model)) {
        auto session =
            std::make_unique<GapSession>(place.model, request.text, request.mark, request.count, place.compute);
        GapSession& steps = *session;
        return {.session = std::move(session), .result = [&steps] {
                    FilledGaps filled = steps.take();
                    return FillAnswer{
                        .text = std::move(filled.text), .ids = {}, .masks = {}, .gaps = std::move(filled.gaps)};
                }};
    }
    struct FillingSteps final : WorkSession {
        FillingSteps(const FillRequest& request, const Place& place, MaskedText text)
            : masks(std::move(text.masks)),
              edits(request.edits, std::ssize(text.ids), nullptr),
              fills(Filler(place.backend, place.model, place.compute, request.edits.empty() ? nullptr : &edits),
                    std::move(text.ids), request.count, request.one_by_one) {}
        bool step() override { return fills.step(); }
        std::int64_t tokens() const override { return fills.tokens(); }
        std::vector<ByteSpan> masks;
        EditingObserver edits;
        FillSession fills;
    };
    const Filler filler(place.backend, place.model, place.compute);
    auto session = std::make_unique<FillingSteps>(request, place, filler.encode(request.text, request.mark));
    FillingSteps& steps = *session;
    return {.session = std::move(session), .result = [&request, &model, &steps] {
                FilledText filled = steps.fills.take();
                return FillAnswer{.text = fill_in(*model.target_tokenizer, request.text, steps.masks, filled),
                                  .ids = std::move(filled.ids),
                                  .masks = std::move(filled.masks),
                                  .gaps = {}};
            }};
}

Steps<ScoreRequest> begin(const ScoreRequest& request, const Place& place, const Teller<ScoreRequest>& /*teller*/) {
    struct ScoringSteps final : WorkSession {
        ScoringSteps(const ScoreRequest& request, const Place& place)
            : ctx{.backend = place.backend, .compute = place.compute},
              scores(ctx, place.model, request.sources, request.targets, request.batch_tokens, request.languages) {}
        bool step() override { return scores.step(); }
        std::int64_t tokens() const override { return scores.tokens(); }
        Context ctx;
        ScoreSession scores;
    };
    if (!request.edits.empty()) {
        auto edited = std::make_unique<EditedScoreSession>(place.backend, place.model, place.compute, request.sources,
                                                           request.targets, request.batch_tokens, request.languages,
                                                           request.edits);
        EditedScoreSession& scores = *edited;
        return {.session = std::move(edited), .result = [&scores] { return scores.take(); }};
    }
    auto session = std::make_unique<ScoringSteps>(request, place);
    ScoringSteps& steps = *session;
    return {.session = std::move(session), .result = [&steps] { return steps.scores.take(); }};
}

Steps<LookRequest> begin(const LookRequest& request, const Place& place, const Teller<LookRequest>& teller) {
    return {.result = [&request, place, teller] {
        Pace pace;
        return Explorer(place.backend, place.model, place.compute)
            .explore(request.explore, [&](const Explorer::Snapshot& so_far) {
                if (pace.due() && teller.wanted()) {
                    pace.show([&] { teller.tell({so_far()}); });
                }
                return place.goes_on();
            });
    }};
}

Steps<ImportanceRequest> begin(const ImportanceRequest& request, const Place& place,
                               const Teller<ImportanceRequest>& teller) {
    return {.result = [&request, place, teller] {
        return Explorer(place.backend, place.model, place.compute)
            .importance(request.explore, [&](const Importance& so_far) {
                if (!so_far.finished && teller.wanted()) {
                    teller.tell({so_far});
                }
                return place.goes_on();
            });
    }};
}

Steps<SaliencyRequest> begin(const SaliencyRequest& request, const Place& place,
                             const Teller<SaliencyRequest>& /*teller*/) {
    return {.result = [&request, place] {
        return measure_saliency(place.backend, place.model, place.compute, request.explore, request.steps,
                                place.goes_on);
    }};
}

Steps<LensRequest> begin(const LensRequest& request, const Place& place, const Teller<LensRequest>& /*teller*/) {
    return {.result = [&request, place] {
        return read_lens(place.backend, place.model, place.compute, request.explore, place.goes_on);
    }};
}

Steps<PatchRequest> begin(const PatchRequest& request, const Place& place, const Teller<PatchRequest>& /*teller*/) {
    return {.result = [&request, place] {
        return patch_activations(place.backend, place.model, place.compute, request.patching, place.goes_on);
    }};
}

Steps<EmbedRequest> begin(const EmbedRequest& request, const Place& place, const Teller<EmbedRequest>& /*teller*/) {
    auto session = std::make_unique<VectorSession>(place.backend, place.model, place.compute, request.texts,
                                                   request.options, request.batch_tokens);
    VectorSession& steps = *session;
    return {.session = std::move(session), .result = [&steps] { return steps.take(); }};
}

}  // namespace headscope

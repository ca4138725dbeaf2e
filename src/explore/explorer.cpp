#include "explore/explorer.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "explore/attention_edits.h"
#include "explore/checked_request.h"
#include "explore/classified.h"
#include "explore/editing_observer.h"
#include "explore/explored_gaps.h"
#include "explore/forced_pass.h"
#include "explore/importance.h"
#include "explore/own_fills.h"
#include "explore/recorded_search.h"
#include "infer/continuation.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "observe/record_attention.h"
#include "support/check.h"

namespace headscope {

namespace {

// Keeps the queries and keys of one site.
class ProjectionCollector final : public AttentionObserver {
public:
    explicit ProjectionCollector(const AttentionSite& site) : site_(site) {}
    bool wants(const AttentionSite& site) const override { return site == site_; }
    Tensor observe(Backend& /*backend*/, const AttentionView& view) override {
        seen = view;
        return view.weights;
    }
    AttentionView seen;

private:
    AttentionSite site_;
};

// The first `rows` of one head of x [1, heads, rows or more, d_k].
std::vector<float> rows_of(Backend& backend, const Tensor& x, int head, std::int64_t rows) {
    return to_host<float>(backend, x.narrow(1, head - 1, 1).narrow(2, 0, rows));
}

// One head's column of a table [distances, heads]; empty if there is none.
std::vector<float> distances_of(Backend& backend, const Tensor& table, int head) {
    std::vector<float> column;
    if (table.defined()) {
        const std::vector<float> all = to_host<float>(backend, table);
        const auto heads = static_cast<std::size_t>(table.dim(1));
        for (std::size_t at = static_cast<std::size_t>(head) - 1; at < all.size(); at += heads) {
            column.push_back(all[at]);
        }
    }
    return column;
}

// Fills in the fields that come from the request.
Exploration labelled(Exploration exploration, const ExploreRequest& request,
                     const std::shared_ptr<const PixelPicture>& picture) {
    exploration.source = request.source;
    exploration.picture = picture;
    exploration.forced = has_target(request);
    if (exploration.problem.empty()) {
        exploration.record.edited = describe(request.edits, exploration.record.family);
        if (exploration.finished) {
            exploration.without_effect = without_effect(request.edits, exploration.record);
        }
    }
    return exploration;
}

}  // namespace

Explorer::Explorer(Backend& backend, const LoadedModel& translator, Compute compute)
    : backend_(backend), translator_(translator), compute_(compute) {}

Exploration Explorer::explore(const ExploreRequest& request, const Progress& progress) const {
    CheckedRequest checked = check_request(translator_, request);
    bool only_by_layer = false;
    if (checked.problem.empty()) {
        const ModelConfig& config = model().config;
        const bool has_source = traits(config.architecture).reads_source;
        const RecordedText text =
            has_source ? checked.target.value_or(RecordedText()) : checked.target.value_or(checked.source);
        const auto too_many = [&](const std::vector<AttentionSite>& sites) {
            return too_many_weights(config, WeightCollector(sites), checked.source, checked.source_pads, text,
                                    request.most_weights);
        };
        checked.problem = too_many(checked.sites);
        only_by_layer = !checked.problem.empty() && checked.sites.empty() &&
                        std::ranges::all_of(kinds_of(config), [&](AttentionKind kind) {
                            return too_many({{kind, 0}}).empty();
                        });
    }
    if (!checked.problem.empty()) {
        Exploration failed;
        failed.problem = checked.problem;
        failed.only_by_layer = only_by_layer;
        failed.finished = true;
        return labelled(std::move(failed), request, checked.picture);
    }
    Progress shown;
    if (progress) {
        shown = [&](const Snapshot& so_far) {
            return progress([&] { return labelled(so_far(), request, checked.picture); });
        };
    }
    Exploration found = !traits(model().config.architecture).writes_pieces
                            ? explore_classes(backend_, translator_, compute_, checked)
                        : checked.target ? read(checked, shown)
                                         : search(checked, shown);
    return labelled(std::move(found), request, checked.picture);
}

Exploration Explorer::search(const CheckedRequest& request, const Progress& progress) const {
    RecordedSearch recorded(backend_, translator_, compute_, request);
    const bool is_causal = traits(model().config.architecture).continues_text;
    const auto snapshot = [&] {
        Exploration found = recorded.snapshot();
        return found.problem.empty() && is_causal ? read_found(request, recorded.best(), found) : found;
    };
    bool stopped = false;
    while (!recorded.done() && !stopped) {
        recorded.step();
        stopped = !recorded.done() && progress && !progress(snapshot);
    }
    return snapshot();
}

// The heads and candidates of a prompt and the continuation that a search has found so far.
Exploration Explorer::read_found(CheckedRequest request, const std::vector<std::int32_t>& tokens,
                                 const Exploration& found) const {
    request.target = with_continuation(*model().target_tokenizer, model().config, request.source, tokens);
    Exploration result = read(request, {});
    if (result.problem.empty()) {
        result.beam = found.beam;
        if (!reads_ahead(request.edits)) {
            result.log_probability = found.log_probability;
            result.score = found.score;
        }
        result.end = found.end;
        result.seconds = found.seconds;
        result.seconds_to_first = found.seconds_to_first;
    }
    result.finished = found.finished;
    return result;
}

// What the model makes of the request: a translation, a continuation, or the text with its masks filled in.
std::string Explorer::written(const CheckedRequest& request, const std::vector<ExploredStep>& steps) const {
    const Tokenizer& tokenizer = *model().target_tokenizer;
    std::vector<std::int32_t> ids = request.target->ids;
    if (traits(model().config.architecture).fills_masks) {
        for (const ExploredStep& step : steps) {
            ids[static_cast<std::size_t>(step.position) - 1] = step.token;
        }
    }
    const auto end_of_prompt = ids.begin() + static_cast<std::ptrdiff_t>(request.prompt);
    return request.prompt == 0 ? tokenizer.decode(ids)
                               : decode_after(tokenizer, {ids.begin(), end_of_prompt}, {end_of_prompt, ids.end()});
}

Exploration Explorer::read(const CheckedRequest& request, const Progress& progress) const {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const Model& network = translator_.network();
    const ModelConfig& config = model().config;
    const Tokenizer& tokenizer = *model().target_tokenizer;
    WeightCollector collector(request.sites);
    EditingObserver observer(request.edits, request.source_length, &collector);
    Context ctx{.backend = backend_, .observer = &observer, .compute = compute_};
    Exploration result;
    const Memory memory = read_source(ctx, network, request.source, request.source_pads);
    std::vector<WeightCollector::Observation> seen;
    if (progress && memory.states.defined()) {
        seen = collector.fetch(backend_);
        result.record = make_record(config, request.source, request.source_pads, nullptr, seen);
        if (!progress([&] { return result; })) {
            return result;
        }
    }
    const RecordedText& target = *request.target;
    const Var hidden = read_target(ctx, network, target, memory);
    const Predictions predictions = predictions_of(config, request);
    result.steps = forced_steps(ctx, network, hidden, predictions, request.candidates);
    result.finished = true;
    if (result.steps.size() < predictions.tokens.size()) {
        const auto usable = predictions.tokens.begin() + static_cast<std::ptrdiff_t>(result.steps.size());
        result.problem = unusable_message({.tokens = {predictions.tokens.begin(), usable}});
        result.steps.clear();
        result.record = {};
        return result;
    }
    for (WeightCollector::Observation& one : collector.fetch(backend_)) {
        seen.push_back(std::move(one));
    }
    result.record = make_record(config, request.source, request.source_pads, &target, seen);
    for (ExploredStep& step : result.steps) {
        for (NextCandidate& candidate : step.candidates) {
            candidate.text = token_text(tokenizer, config, candidate.token);
        }
        if (traits(config.architecture).fills_masks) {
            result.record.target_out.push_back({token_text(tokenizer, config, step.token)});
        }
    }
    for (std::size_t i = predictions.given; i < result.steps.size(); ++i) {
        result.log_probability += result.steps[i].log_probability;
    }
    result.prompt = std::min(prompt_steps(config, request), result.steps.size());
    const auto length = static_cast<std::int64_t>(result.steps.size() - std::min(result.prompt, predictions.given));
    result.score = result.log_probability / length_penalty(std::max<std::int64_t>(length, 1), request.search);
    result.translation = written(request, result.steps);
    result.gaps = explored_gaps(tokenizer, request.sentinels, result.steps);
    result.end = target.ended ? EndReason::EndOfSentence : EndReason::Limit;
    result.seconds = result.seconds_to_first = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
}

Importance Explorer::importance(const ExploreRequest& request, const ImportanceProgress& progress) const {
    const CheckedRequest checked =
        check_request_with_target(translator_, with_own_fills(backend_, translator_, compute_, request));
    if (!checked.problem.empty()) {
        Importance result;
        result.problem = checked.problem;
        result.finished = true;
        return result;
    }
    return measure_importance(backend_, translator_, compute_, checked, progress);
}

NeuronView Explorer::neuron(const ExploreRequest& request, const AttentionSite& site, int head) const {
    return neurons(request, site, head, head).front();
}

std::vector<NeuronView> Explorer::neurons(const ExploreRequest& request, const AttentionSite& site, int first,
                                          int last) const {
    NeuronView common{.site = site, .head = first};
    const CheckedRequest checked = check_request_with_target(translator_, request);
    const std::string missing = missing_head(model().config, site, last);
    common.problem = checked.problem.empty() ? missing : checked.problem;
    if (common.problem.empty() && model().config.attention.score == AttentionScore::Additive) {
        common.problem =
            "the numbers of a neuron are those of dot products; this model's \"attention.score\" is \"additive\"";
    }
    if (!common.problem.empty()) {
        return {common};
    }
    ProjectionCollector collector(site);
    EditingObserver observer(checked.edits, checked.source_length, &collector);
    Context ctx{.backend = backend_, .observer = &observer, .compute = compute_};
    const Memory memory = read_source(ctx, translator_.network(), checked.source, checked.source_pads);
    if (!collector.seen.weights.defined()) {
        read_target(ctx, translator_.network(), *checked.target, memory);
    }
    const std::int64_t source_length = checked.source_length + checked.source_pads;
    const std::int64_t target_length = checked.target ? std::ssize(target_in_ids(model().config, *checked.target)) : 0;
    common.queries = site.kind == AttentionKind::EncoderSelf ? source_length : target_length;
    common.keys = site.kind == AttentionKind::DecoderSelf ? target_length : source_length;
    common.d_k = collector.seen.queries.dim(3);
    common.causal = site.kind == AttentionKind::DecoderSelf;
    common.pads = common.causal ? 0 : checked.source_pads;
    common.scale = collector.seen.scale;
    const auto of_group = static_cast<int>(collector.seen.queries.dim(1) / collector.seen.keys.dim(1));
    std::vector<NeuronView> views;
    for (int head = first; head <= last; ++head) {
        NeuronView view = common;
        view.head = head;
        view.edited = std::any_of(checked.edits.begin(), checked.edits.end(),
                                  [&](const AttentionEdit& edit) { return edit.site == site && edit.head == head; });
        view.q = rows_of(backend_, collector.seen.queries, head, view.queries);
        view.k = rows_of(backend_, collector.seen.keys, (head - 1) / of_group + 1, view.keys);
        view.by_distance = distances_of(backend_, collector.seen.by_distance, head);
        views.push_back(std::move(view));
    }
    return views;
}

std::vector<std::int32_t> output_of(const Exploration& exploration) {
    std::vector<std::int32_t> output;
    std::transform(exploration.steps.begin() + static_cast<std::ptrdiff_t>(exploration.prompt), exploration.steps.end(),
                   std::back_inserter(output), [](const ExploredStep& step) { return step.token; });
    return output;
}

ExploreRequest with_target(ExploreRequest request, const Exploration& found) {
    if (std::vector<std::int32_t> output = output_of(found); !output.empty()) {
        request.target.reset();
        request.target_tokens = std::move(output);
    }
    return request;
}

}  // namespace headscope

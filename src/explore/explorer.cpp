#include "explore/explorer.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "explore/attention_edits.h"
#include "explore/checked_request.h"
#include "explore/editing_observer.h"
#include "explore/forced_pass.h"
#include "explore/importance.h"
#include "explore/recorded_search.h"
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

// Fills in the fields that come from the request.
Exploration labelled(Exploration exploration, const ExploreRequest& request) {
    exploration.source = request.source;
    exploration.forced = has_target(request);
    if (exploration.problem.empty()) {
        exploration.record.edited = describe(request.edits);
        if (exploration.finished) {
            exploration.without_effect = without_effect(request.edits, exploration.record);
        }
    }
    return exploration;
}

}  // namespace

Explorer::Explorer(Backend& backend, const Translator& translator, Compute compute)
    : backend_(backend), translator_(translator), compute_(compute) {}

Exploration Explorer::explore(const ExploreRequest& request, const Progress& progress) const {
    const CheckedRequest checked = check_request(translator_, request);
    if (!checked.problem.empty()) {
        Exploration failed;
        failed.problem = checked.problem;
        failed.finished = true;
        return labelled(std::move(failed), request);
    }
    Progress shown;
    if (progress) {
        shown = [&](const Snapshot& so_far) { return progress([&] { return labelled(so_far(), request); }); };
    }
    return labelled(checked.target ? read(checked, shown) : search(checked, shown), request);
}

Exploration Explorer::search(const CheckedRequest& request, const Progress& progress) const {
    RecordedSearch recorded(backend_, translator_, compute_, request);
    bool stopped = false;
    while (!recorded.done() && !stopped) {
        recorded.step();
        stopped = !recorded.done() && progress && !progress([&] { return recorded.snapshot(); });
    }
    return recorded.snapshot();
}

Exploration Explorer::read(const CheckedRequest& request, const Progress& progress) const {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const EncoderDecoder& transformer = translator_.transformer();
    const ModelConfig& config = model().config;
    WeightCollector collector;
    EditingObserver observer(request.edits, request.source_length(), &collector);
    Context ctx{.backend = backend_, .observer = &observer, .compute = compute_};
    Exploration result;
    const SourceMemory memory = read_source(ctx, transformer, request.source, request.source_pads);
    std::vector<WeightCollector::Observation> seen;
    if (progress) {
        seen = collector.fetch(backend_);
        result.record = make_record(config, request.source, request.source_pads, nullptr, seen);
        if (!progress([&] { return result; })) {
            return result;
        }
    }
    const RecordedText& target = *request.target;
    const Var hidden = read_target(ctx, transformer, target, memory);
    const std::vector<std::int32_t> written = written_ids(config, target);
    result.steps = forced_steps(ctx, transformer, hidden, written, request.candidates);
    result.finished = true;
    if (result.steps.size() < written.size()) {
        const auto usable = written.begin() + static_cast<std::ptrdiff_t>(result.steps.size());
        result.problem = unusable_message({.tokens = {written.begin(), usable}});
        result.steps.clear();
        result.record = {};
        return result;
    }
    for (WeightCollector::Observation& one : collector.fetch(backend_)) {
        seen.push_back(std::move(one));
    }
    result.record = make_record(config, request.source, request.source_pads, &target, seen);
    for (ExploredStep& step : result.steps) {
        result.log_probability += step.log_probability;
        for (NextCandidate& candidate : step.candidates) {
            candidate.text = token_text(*model().target_tokenizer, config, candidate.token);
        }
    }
    const auto length = static_cast<std::int64_t>(result.steps.size());
    result.score = result.log_probability / length_penalty(length, request.search);
    result.translation = model().target_tokenizer->decode(target.ids);
    result.end = target.ended ? EndReason::EndOfSentence : EndReason::Limit;
    result.seconds = result.seconds_to_first = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
}

Importance Explorer::importance(const ExploreRequest& request, const ImportanceProgress& progress) const {
    const CheckedRequest checked = check_request_with_target(translator_, request);
    if (!checked.problem.empty()) {
        Importance result;
        result.problem = checked.problem;
        result.finished = true;
        return result;
    }
    return measure_importance(backend_, translator_, compute_, checked.edits, checked.source, *checked.target,
                              progress);
}

NeuronView Explorer::neuron(const ExploreRequest& request, const AttentionSite& site, int head) const {
    NeuronView view{.site = site, .head = head};
    const CheckedRequest checked = check_request_with_target(translator_, request);
    const std::string missing = missing_head(model().config, site, head);
    view.problem = checked.problem.empty() ? missing : checked.problem;
    if (!view.problem.empty()) {
        return view;
    }
    ProjectionCollector collector(site);
    EditingObserver observer(checked.edits, checked.source_length(), &collector);
    Context ctx{.backend = backend_, .observer = &observer, .compute = compute_};
    const SourceMemory memory = read_source(ctx, translator_.transformer(), checked.source, checked.source_pads);
    if (site.kind != AttentionKind::EncoderSelf) {
        read_target(ctx, translator_.transformer(), *checked.target, memory);
    }
    const std::int64_t source_length = checked.source_length() + checked.source_pads;
    const auto target_length = static_cast<std::int64_t>(target_in_ids(model().config, *checked.target).size());
    view.queries = site.kind == AttentionKind::EncoderSelf ? source_length : target_length;
    view.keys = site.kind == AttentionKind::DecoderSelf ? target_length : source_length;
    view.d_k = collector.seen.queries.dim(3);
    view.causal = site.kind == AttentionKind::DecoderSelf;
    view.pads = view.causal ? 0 : checked.source_pads;
    view.edited = std::any_of(checked.edits.begin(), checked.edits.end(),
                              [&](const AttentionEdit& edit) { return edit.site == site && edit.head == head; });
    view.scale = collector.seen.scale;
    view.q = rows_of(backend_, collector.seen.queries, head, view.queries);
    view.k = rows_of(backend_, collector.seen.keys, head, view.keys);
    return view;
}

std::vector<std::int32_t> output_of(const Exploration& exploration) {
    std::vector<std::int32_t> output;
    std::transform(exploration.steps.begin(), exploration.steps.end(), std::back_inserter(output),
                   [](const ExploredStep& step) { return step.token; });
    return output;
}

ExploreRequest with_target(ExploreRequest request, const Exploration& found) {
    request.target.reset();
    request.target_tokens = output_of(found);
    return request;
}

}  // namespace headscope

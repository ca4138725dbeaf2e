#include "explore/lens.h"

#include <numeric>
#include <set>
#include <utility>

#include "autograd/hooks.h"
#include "backend/ops/elementwise.h"
#include "data/batch.h"
#include "explore/checked_request.h"
#include "explore/editing_observer.h"
#include "explore/forced_pass.h"
#include "model/family.h"
#include "model/sites.h"
#include "observe/record_attention.h"

namespace headscope {

namespace {

// Keeps the residuals of the stack whose states become the output, on the device.
class ResidualHooks final : public Hooks {
public:
    explicit ResidualHooks(const ModelConfig& config) {
        const std::string stack = has_decoder(config) ? "decoder" : "encoder";
        for (const std::string pattern : {".embedding", ".*.residual_out"}) {
            const std::vector<std::string> sites = matching_sites(config, stack + pattern);
            sites_.insert(sites.begin(), sites.end());
        }
    }
    bool wants(const std::string& site) const override { return sites_.contains(site); }
    Tensor reach(Backend& backend, const std::string& site, const Tensor& value) override {
        const Tensor copy = backend.empty(value.shape, value.dtype);
        backend.run(Copy{.x = value, .out = copy});
        residuals.emplace_back(site, Var(copy));
        return value;
    }

    std::vector<std::pair<std::string, Var>> residuals;  // in the order of the pass

private:
    std::set<std::string> sites_;
};

// What is predicted at every position, as far as the request gives it.
Predictions at_all_positions(const ModelConfig& config, const CheckedRequest& request) {
    const Predictions given = predictions_of(config, request);
    Predictions all;
    all.tokens.assign(target_in_ids(config, *request.target).size(), kNoTarget);
    all.positions.resize(all.tokens.size());
    std::iota(all.positions.begin(), all.positions.end(), std::int64_t{0});
    for (std::size_t i = 0; i < given.tokens.size(); ++i) {
        all.tokens[static_cast<std::size_t>(given.positions[i])] = given.tokens[i];
    }
    return all;
}

}  // namespace

Lens read_lens(Backend& backend, const LoadedModel& models, Compute compute, const ExploreRequest& request,
               const std::function<bool()>& goes_on) {
    Lens lens;
    const Model& model = models.network();
    const ModelConfig& config = model.config();
    const CheckedRequest checked = check_request_with_target(models, request);
    lens.problem = checked.problem.empty() && !checked.target
                       ? "the logit lens shows what a model would write: a classifier writes no text"
                       : checked.problem;
    if (!lens.problem.empty()) {
        return lens;
    }
    const auto text_of = [&](std::int32_t token) {
        return token_text(*models.model().target_tokenizer, config, token);
    };
    ResidualHooks hooks(config);
    EditingObserver edits(checked.edits, checked.source_length, nullptr);
    Context ctx{.backend = backend, .observer = &edits, .hooks = &hooks, .compute = compute};
    const Memory memory = read_source(ctx, model, checked.source, checked.source_pads);
    const Var states = read_target(ctx, model, *checked.target, memory);
    ctx.hooks = nullptr;
    const Predictions predictions = at_all_positions(config, checked);
    for (const auto& [site, residual] : hooks.residuals) {
        if (goes_on && !goes_on()) {
            break;
        }
        const bool is_last = lens.layers.size() + 1 == hooks.residuals.size();
        LensLayer layer{site, forced_steps(ctx, model, is_last ? states : model.states_of_residual(ctx, residual),
                                           predictions, checked.candidates)};
        if (layer.steps.size() < predictions.tokens.size()) {
            return {.problem = kUnusable};
        }
        for (ExploredStep& step : layer.steps) {
            for (NextCandidate& candidate : step.candidates) {
                candidate.text = text_of(candidate.token);
            }
        }
        lens.layers.push_back(std::move(layer));
    }
    lens.tokens = target_in_tokens(config, *checked.target);
    for (const std::int32_t token : predictions.tokens) {
        lens.given.push_back(token == kNoTarget ? "" : text_of(token));
    }
    return lens;
}

}  // namespace headscope

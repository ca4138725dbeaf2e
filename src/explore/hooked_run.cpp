#include "explore/hooked_run.h"

#include <algorithm>

#include "explore/checked_request.h"
#include "explore/editing_observer.h"
#include "explore/forced_pass.h"
#include "explore/site_hooks.h"
#include "model/family.h"
#include "observe/record_attention.h"
#include "support/check.h"

namespace headscope {

const SiteValues& HookedRun::at(const std::string& site) const {
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const SiteValues& one) { return one.site == site; });
    HEADSCOPE_CHECK(found != values.end(), "the site " + site + " was not recorded");
    return *found;
}

HookedRun run_with_hooks(Backend& backend, const LoadedModel& models, Compute compute, const HookedRequest& request) {
    HookedRun run;
    const Model& model = models.network();
    const CheckedRequest checked = check_text_with_target(models, request.text);
    if (!checked.problem.empty()) {
        run.problem = checked.problem;
        return run;
    }
    const auto target = std::ssize(target_in_ids(model.config(), *checked.target));
    SiteHooks hooks(model.config(), request, checked.source_length > 0 ? checked.source_length : target, target);
    EditingObserver edits(checked.edits, checked.source_length, nullptr);
    Context ctx{.backend = backend, .observer = &edits, .hooks = &hooks, .compute = compute};
    const Memory memory = read_source(ctx, model, checked.source, checked.source_pads);
    const Var hidden = read_target(ctx, model, *checked.target, memory);
    const Predictions predictions = predictions_of(model.config(), checked);
    if (hooks.wants("logits")) {
        const Tensor logits = model.logits(ctx, hidden).value();
        run.steps =
            forced_steps(model.config(), predictions, checked.candidates, [&](std::int64_t first, std::int64_t rows) {
                return to_host<double>(backend, logits.narrow(1, first, rows));
            });
    } else {
        run.steps = forced_steps(ctx, model, hidden, predictions, checked.candidates);
    }
    run.values = hooks.take();
    if (run.steps.size() < predictions.tokens.size()) {
        return {.problem = kUnusable};
    }
    run.prompt = std::min(prompt_steps(model.config(), checked), run.steps.size());
    for (std::size_t i = predictions.given; i < run.steps.size(); ++i) {
        run.log_probability += run.steps[i].log_probability;
    }
    return run;
}

}  // namespace headscope

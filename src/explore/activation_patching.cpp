#include "explore/activation_patching.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "explore/checked_request.h"
#include "explore/forced_pass.h"
#include "explore/hooked_run.h"
#include "explore/site_hooks.h"
#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

// What the stack of a site reads.
std::vector<RecordedToken> tokens_at(const std::string& site, const ModelConfig& config, const CheckedRequest& text) {
    return traits(config.architecture).reads_source && counts_source_tokens(site)
               ? source_tokens(config, text.source, 0)
               : target_in_tokens(config, *text.target);
}

std::string obstacle(const ModelConfig& config, const CheckedRequest& text, const CheckedRequest& from) {
    if (!text.problem.empty()) {
        return text.problem;
    }
    if (!from.problem.empty()) {
        return "the text to take values from: " + from.problem;
    }
    const Predictions predictions = predictions_of(config, text);
    if (predictions.tokens.size() == prompt_steps(config, text)) {
        return "the prompt has no continuation whose probability could change: give it one";
    }
    return missing_token(predictions);
}

// The value at one position, in the place of the same position.
SitePatch patch_at(const SiteValues& from, std::int64_t position) {
    const std::int64_t columns = from.shape[-1];
    const std::int64_t positions = from.shape[-2];
    SitePatch patch{.by = {from.site, from.shape, {}}, .first = position};
    patch.by.shape.set(-2, 1);
    for (std::int64_t at = position * columns; at < from.shape.elements(); at += positions * columns) {
        patch.by.values.insert(patch.by.values.end(), from.values.begin() + at, from.values.begin() + at + columns);
    }
    return patch;
}

// The positions that are asked for, or all that both texts have.
std::vector<std::int64_t> positions_at(const std::string& site, const std::vector<std::int64_t>& asked,
                                       std::size_t text, std::size_t from) {
    const auto both = static_cast<std::int64_t>(std::min(text, from));
    for (const std::int64_t position : asked) {
        if (position < 0 || position >= both) {
            throw Error(
                fmt::format("position {} of {}: the texts have {} and {} tokens there, so it must be from 1 to {}",
                            position + 1, site, text, from, both));
        }
    }
    std::vector<std::int64_t> positions = asked;
    if (asked.empty()) {
        positions.resize(static_cast<std::size_t>(both));
        std::iota(positions.begin(), positions.end(), std::int64_t{0});
    }
    return positions;
}

}  // namespace

PatchEffects patch_activations(Backend& backend, const LoadedModel& models, Compute compute, const Patching& patching,
                               const std::function<bool()>& goes_on) {
    PatchEffects found;
    const ModelConfig& config = models.model().config;
    ExploreRequest other = patching.text;
    other.source = patching.from;
    const CheckedRequest text = check_text_with_target(models, patching.text);
    const CheckedRequest from = check_text_with_target(models, other);
    found.problem = obstacle(config, text, from);
    if (!found.problem.empty()) {
        return found;
    }
    const auto run = [&](HookedRequest request) { return run_with_hooks(backend, models, compute, request); };
    const HookedRun plain = run({.text = patching.text});
    const HookedRun taken = run({.text = other, .record = {patching.sites}});
    for (const HookedRun* run_of_text : {&plain, &taken}) {
        if (!run_of_text->problem.empty()) {
            return {.problem = run_of_text->problem};
        }
    }
    found.log_probability = plain.log_probability;
    found.from_log_probability = taken.log_probability;
    for (const SiteValues& values : taken.values) {
        const std::vector<RecordedToken> tokens = tokens_at(values.site, config, text);
        const std::vector<RecordedToken> others = tokens_at(values.site, config, from);
        for (const std::int64_t position :
             positions_at(values.site, patching.positions, tokens.size(), others.size())) {
            if (goes_on && !goes_on()) {
                return found;
            }
            const HookedRun patched = run({.text = patching.text, .patches = {patch_at(values, position)}});
            if (!patched.problem.empty()) {
                return {.problem = patched.problem};
            }
            const auto at = static_cast<std::size_t>(position);
            found.effects.push_back({values.site, position, tokens[at], others[at], patched.log_probability});
        }
    }
    return found;
}

}  // namespace headscope

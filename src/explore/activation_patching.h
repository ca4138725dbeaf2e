// Activation patching: what a text's output owes to the values in the middle of its pass. They are taken, one at a
// time, from a pass over another text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "infer/loaded_model.h"

namespace headscope {

struct Patching {
    ExploreRequest text;                       // with an output: a target, or what fills the masks
    std::string from;                          // the other source, which the model reads with the same output
    std::string sites;                         // a pattern, see matching_sites() in model/sites.h
    std::vector<std::int64_t> positions = {};  // from 0; empty: all that both texts have at the site
};

// The effect of one site at one position, with the tokens there.
struct PatchEffect {
    std::string site;
    std::int64_t position = 0;
    RecordedToken token, from;
    double log_probability = 0.0;  // of the output
};

struct PatchEffects {
    double log_probability = 0.0;           // of the output after the text
    double from_log_probability = 0.0;      // of the same output after the other text
    std::vector<PatchEffect> effects = {};  // site by site, in the order of a pass
    std::string problem = {};               // the error, if any, with its remedy: then there is nothing else
};

// A pass for each effect. Error for sites and positions that a text lacks. Ends early if `goes_on` returns false.
PatchEffects patch_activations(Backend& backend, const LoadedModel& models, Compute compute, const Patching& patching,
                               const std::function<bool()>& goes_on = {});

}  // namespace headscope

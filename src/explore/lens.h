// The logit lens (nostalgebraist, 2020): what a model would write if it stopped after a layer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "infer/loaded_model.h"

namespace headscope {

struct LensLayer {
    std::string site;                 // model/sites.h: what the first layer gets, then the residual after each layer
    std::vector<ExploredStep> steps;  // one for each token; where no output is given, of the likeliest
};

struct Lens {
    std::vector<RecordedToken> tokens = {};  // what the stack reads whose states become the output
    std::vector<std::string> given = {};     // the output at each of these; "" where none is given
    std::vector<LensLayer> layers = {};      // the last has the model's own distributions
    std::string problem = {};                // the error, if any, with its remedy: then there is nothing else
};

// The last norm and the output projection, applied to the residual after each layer. The request has a target, unless
// the model fills in masks. Ends early if `goes_on`, which is called before each layer, returns false.
Lens read_lens(Backend& backend, const LoadedModel& models, Compute compute, const ExploreRequest& request,
               const std::function<bool()>& goes_on = {});

}  // namespace headscope

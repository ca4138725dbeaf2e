// A pass over a given text whose values in the middle (model/sites.h) are recorded and replaced: hooks, activation
// patching.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "infer/loaded_model.h"
#include "tensor/shape.h"

namespace headscope {

// The value at a site for one text, without padding and without a batch: model/sites.h has its shape.
struct SiteValues {
    std::string site;
    Shape shape;
    std::vector<float> values;
};

// Values to put in the place of a site's from the position `first` on: the shape [.., positions, columns] of the site,
// in which there may be fewer positions. `head`, from 1, is for sites with heads, of which it replaces one: then the
// shape is without heads. 0: all.
struct SitePatch {
    SiteValues by;
    std::int64_t first = 0;
    int head = 0;
};

// Changes values in place; its exceptions leave run_with_hooks(). Called for each site that the pattern names.
struct SiteFunction {
    std::string pattern;
    std::function<void(SiteValues& values)> change;
};

struct HookedRequest {
    ExploreRequest text;                       // with a target, unless the model fills in masks
    std::vector<std::string> record = {};      // patterns of sites, see matching_sites()
    std::vector<SitePatch> patches = {};       // in this order, then
    std::vector<SiteFunction> functions = {};  // in this order
};

struct HookedRun {
    std::vector<SiteValues> values = {};   // of the recorded sites, as replaced, in the order of the pass
    std::vector<ExploredStep> steps = {};  // one for each predicted token
    std::size_t prompt = 0;                // of these, the first ones, which a causal language model's prompt gives
    double log_probability = 0.0;          // of the steps that count, as Exploration::log_probability
    std::string problem = {};              // the error, if any, with its remedy: then there is nothing else

    const SiteValues& at(const std::string& site) const;  // CheckFailure if it was not recorded
};

// A pass of the first model, on the device, in which sites that are read or replaced are copied from and to the host.
HookedRun run_with_hooks(Backend& backend, const LoadedModel& models, Compute compute, const HookedRequest& request);

}  // namespace headscope

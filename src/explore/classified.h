// The classes that a classifier gives a picture, and the heads behind them.
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/context.h"
#include "explore/checked_request.h"
#include "explore/exploration.h"
#include "infer/loaded_model.h"

namespace headscope {

// Of `copies` of the request's picture in one batch: the log-probability of each class, or of a model with a number
// instead of classes that number.
std::vector<std::vector<double>> class_scores(Context& ctx, const Model& model, const CheckedRequest& request,
                                              std::int64_t copies);

// One step: the class that the request gives, or else the likeliest, with the others as candidates. A model with a
// number has no step.
Exploration explore_classes(Backend& backend, const LoadedModel& models, Compute compute,
                            const CheckedRequest& request);

}  // namespace headscope

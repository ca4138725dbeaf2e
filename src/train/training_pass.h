// One forward and backward pass over a batch, which a backend may record and replay.
#pragma once

#include <functional>
#include <string>

#include "autograd/context.h"
#include "data/device_batch.h"
#include "model/model.h"
#include "model/parameters.h"
#include "train/gradient_watch.h"

namespace headscope {

class TrainingPass {
public:
    // The same for every pass. Only the rates and the seed of `regularisation` count.
    struct Rules {
        Regularisation regularisation = {};
        LossOptions loss = {};
        Compute compute = Compute::F32;
        std::function<void(const std::string&)> label = {};  // see Context
        // Gets the final gradients; null except for the last pass of a step.
        GradientWatch* watch = nullptr;
    };

    TrainingPass(Backend& backend, const Model& model, const Parameters& parameters)
        : backend_(backend), model_(model), parameters_(parameters) {}

    // Enqueues the pass. The first pass of a step overwrites the parameters' gradients, later ones add to them. Dropout
    // is keyed by `step`, I32 [1]; if it is undefined, there is no dropout. Returns the sums over the batch.
    LossSums run(const DeviceBatch& batch, bool first, const Tensor& step, const Rules& rules) const;

private:
    void run_now(const DeviceBatch& batch, bool first, const Tensor& step, const Rules& rules,
                 const LossSums& sums) const;

    Backend& backend_;
    const Model& model_;
    const Parameters& parameters_;
};

}  // namespace headscope

// One pass forward and back over a batch, in the form in which a backend may keep it and enqueue it again at once.
#pragma once

#include <functional>
#include <string>

#include "autograd/context.h"
#include "data/device_batch.h"
#include "model/parameters.h"
#include "model/transformer.h"
#include "train/gradient_watch.h"

namespace headscope {

class TrainingPass {
public:
    // What is the same in every pass. Of `regularisation` only the rates and the seed count here.
    struct Rules {
        Regularisation regularisation = {};
        LossOptions loss = {};
        Compute compute = Compute::F32;
        std::function<void(const std::string&)> label = {};  // see Context
        // Told of the gradients that are final after this pass: of a step's last one.
        GradientWatch* watch = nullptr;
    };

    TrainingPass(Backend& backend, const Transformer& model, const Parameters& parameters)
        : backend_(backend), model_(model), parameters_(parameters) {}

    // Enqueues the pass. The first of a step overwrites the parameters' gradients, the others add to them. `step`, I32
    // [1], is what dropout draws by; without it there is none. Returns the sums over the batch.
    LossSums run(const DeviceBatch& batch, bool first, const Tensor& step, const Rules& rules) const;

private:
    void run_now(const DeviceBatch& batch, bool first, const Tensor& step, const Rules& rules,
                 const LossSums& sums) const;

    Backend& backend_;
    const Transformer& model_;
    const Parameters& parameters_;
};

}  // namespace headscope

// What happened in the last steps, kept on the device until a report asks for it, so that no step waits for the host.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "backend/ops/optimizer.h"
#include "model/model.h"

namespace headscope {

struct StepTokens {
    std::int64_t source = 0, target = 0;
};

struct StepRecord {
    double loss = 0.0;  // sums over the step's target tokens, by weight
    double nll = 0.0;
    double gradient_norm = 0.0;
    bool skipped = false;                            // the gradient was not finite
    LossScaleState<double> loss_scale = {1.0, 0.0};  // for the next step
    std::int64_t updates = 0;                        // so far: steps that were not skipped
    std::vector<double> gradient_squares = {};       // as GradientWatch::squares; empty without one
    StepTokens tokens = {};
    double divisor = 1.0;               // of the sums and of the gradient
    std::vector<double> measures = {};  // LossSums::measures
};

class StepHistory {
public:
    // `watched`: the number of sums of squares per step; `measures`: of LossSums::measures.
    StepHistory(Backend& backend, std::int64_t capacity, std::int64_t watched = 0, std::int64_t measures = 0);

    bool full() const { return static_cast<std::int64_t>(steps_.size()) == capacity_; }
    // step_scalars [StepScalars::Count]; gradient_squares [watched], undefined for none.
    void add(const LossSums& losses, const StepTokens& tokens, double divisor, const Tensor& step_scalars,
             const Tensor& gradient_squares = {});
    std::vector<StepRecord> take();  // waits for the device and empties the history

private:
    enum Column : int { Loss, Nll, Scalars, Count = Scalars + static_cast<int>(StepScalars::Count) };

    Backend& backend_;
    std::int64_t capacity_ = 0;
    std::int64_t watched_ = 0;
    std::int64_t measures_ = 0;
    struct Known {  // on the host
        StepTokens tokens;
        double divisor;
    };
    std::int64_t width_ = 0;    // of a step
    Tensor values_;             // [capacity * width]
    std::vector<Known> steps_;  // of the steps in `values_`
};

}  // namespace headscope

// What happened in the last steps, kept on the device until a report asks: no step waits for the host.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "model/transformer.h"

namespace headscope {

struct StepRecord {
    double loss = 0.0;  // sums over the step's target tokens
    double nll = 0.0;
    double gradient_norm = 0.0;
    bool skipped = false;                            // the gradient was not finite
    LossScaleState<double> loss_scale = {1.0, 0.0};  // for the step after it
    std::vector<double> gradient_squares = {};       // as GradientWatch::squares; empty where nobody watches
};

class StepHistory {
public:
    // `watched`: how many sums of squares a step has.
    StepHistory(Backend& backend, std::int64_t capacity, std::int64_t watched = 0);

    bool full() const { return used_ == capacity_; }
    void add_losses(const LossSums& losses);  // of one micro-batch of the current step
    void forget_losses() { open_ = false; }   // of the current step, which begins anew
    // step_scalars [StepScalars::Count]; gradient_squares [watched], undefined for none.
    void finish_step(const Tensor& step_scalars, const Tensor& gradient_squares = {});
    std::vector<StepRecord> take();  // waits for the device; then the history is empty

private:
    enum Column : int { Loss, Nll, Scalars, Count = Scalars + static_cast<int>(StepScalars::Count) };
    Tensor slot(std::int64_t column, std::int64_t columns) const;

    Backend& backend_;
    std::int64_t capacity_ = 0;
    std::int64_t watched_ = 0;
    std::int64_t width_ = 0;  // of a step
    std::int64_t used_ = 0;
    bool open_ = false;  // the current step has losses
    Tensor values_;      // [capacity * width]
};

}  // namespace headscope

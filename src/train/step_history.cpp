#include "train/step_history.h"

#include "backend/ops/elementwise.h"
#include "backend/ops/optimizer.h"
#include "support/check.h"

namespace headscope {

StepHistory::StepHistory(Backend& backend, std::int64_t capacity, std::int64_t watched, std::int64_t measures)
    : backend_(backend),
      capacity_(capacity),
      watched_(watched),
      measures_(measures),
      width_(Column::Count + watched + measures),
      values_(backend.empty({capacity * width_}, backend.full_dtype())) {
    backend.run(Fill{.out = values_});
}

void StepHistory::add(const LossSums& losses, const StepTokens& tokens, double divisor, const Tensor& step_scalars,
                      const Tensor& gradient_squares) {
    HEADSCOPE_CHECK((gradient_squares.defined() ? gradient_squares.elements() : 0) == watched_,
                    "a step must have as many sums of squares as the history was made for");
    const auto copy = [&](const Tensor& x, std::int64_t column, std::int64_t columns) {
        const std::int64_t step = static_cast<std::int64_t>(steps_.size());
        backend_.run(Copy{.x = x, .out = values_.narrow(0, step * width_ + column, columns)});
    };
    copy(losses.loss, Column::Loss, 1);
    copy(losses.nll, Column::Nll, 1);
    copy(step_scalars, Column::Scalars, StepScalars::Count);
    if (watched_ > 0) {
        copy(gradient_squares, Column::Count, watched_);
    }
    if (measures_ > 0) {
        copy(losses.measures, Column::Count + watched_, measures_);
    }
    steps_.push_back({tokens, divisor});
}

std::vector<StepRecord> StepHistory::take() {
    std::vector<StepRecord> records(steps_.size());
    if (!steps_.empty()) {
        const std::int64_t used = static_cast<std::int64_t>(steps_.size());
        const auto host = to_host<double>(backend_, values_.narrow(0, 0, used * width_));
        for (std::size_t i = 0; i < records.size(); ++i) {
            const double* row = host.data() + i * static_cast<std::size_t>(width_);
            const double* scalars = row + Column::Scalars;
            records[i] = {row[Column::Loss],
                          row[Column::Nll],
                          scalars[StepScalars::GradientNorm],
                          scalars[StepScalars::Skip] != 0.0,
                          {scalars[StepScalars::LossScale], scalars[StepScalars::GoodSteps]},
                          static_cast<std::int64_t>(scalars[StepScalars::Updates]),
                          {row + Column::Count, row + Column::Count + watched_},
                          steps_[i].tokens,
                          steps_[i].divisor,
                          {row + Column::Count + watched_, row + width_}};
        }
    }
    steps_.clear();
    return records;
}

}  // namespace headscope

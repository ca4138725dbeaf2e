#include "train/step_history.h"

#include "support/check.h"

namespace headscope {

StepHistory::StepHistory(Backend& backend, std::int64_t capacity, std::int64_t watched)
    : backend_(backend),
      capacity_(capacity),
      watched_(watched),
      width_(Column::Count + watched),
      values_(backend.empty({capacity * width_}, backend.real())) {
    backend.run(Fill{.out = values_});
}

Tensor StepHistory::slot(std::int64_t column, std::int64_t columns) const {
    return values_.narrow(0, used_ * width_ + column, columns);
}

void StepHistory::add_losses(const LossSums& losses) {
    HEADSCOPE_CHECK(!full(), "the history is full: take() it");
    const Write write = open_ ? Write::Accumulate : Write::Overwrite;
    backend_.run(Copy{.x = losses.loss, .out = slot(Column::Loss, 1), .write = write});
    backend_.run(Copy{.x = losses.nll, .out = slot(Column::Nll, 1), .write = write});
    open_ = true;
}

void StepHistory::finish_step(const Tensor& step_scalars, const Tensor& gradient_squares) {
    HEADSCOPE_CHECK(open_, "a step without losses");
    HEADSCOPE_CHECK((gradient_squares.defined() ? gradient_squares.elements() : 0) == watched_,
                    "a step has as many sums of squares as the history was made for");
    backend_.run(Copy{.x = step_scalars, .out = slot(Column::Scalars, StepScalars::Count)});
    if (watched_ > 0) {
        backend_.run(Copy{.x = gradient_squares, .out = slot(Column::Count, watched_)});
    }
    ++used_;
    open_ = false;
}

std::vector<StepRecord> StepHistory::take() {
    HEADSCOPE_CHECK(!open_, "the current step is not finished");
    std::vector<StepRecord> records(static_cast<std::size_t>(used_));
    if (used_ > 0) {
        const auto host = to_host<double>(backend_, values_.narrow(0, 0, used_ * width_));
        for (std::size_t i = 0; i < records.size(); ++i) {
            const double* row = host.data() + i * static_cast<std::size_t>(width_);
            const double* scalars = row + Column::Scalars;
            records[i] = {row[Column::Loss],
                          row[Column::Nll],
                          scalars[StepScalars::GradientNorm],
                          scalars[StepScalars::Skip] != 0.0,
                          {scalars[StepScalars::LossScale], scalars[StepScalars::GoodSteps]},
                          {row + Column::Count, row + width_}};
        }
    }
    used_ = 0;
    return records;
}

}  // namespace headscope

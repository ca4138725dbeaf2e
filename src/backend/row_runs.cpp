#include "backend/row_runs.h"

namespace headscope {

RowRuns row_runs(const Tensor& first, const Tensor& second) {
    RowRuns runs;
    int dim = first.rank() - 1;
    // From the innermost dimension outwards, as long as each continues the one inside it.
    for (; dim > 0 && first.stride(dim) == runs.length && second.stride(dim) == runs.length; --dim) {
        runs.length *= first.dim(dim);
    }
    // The innermost stride is 1, so two of the at most three dimensions are left.
    const auto take = [&](std::int64_t& count, std::array<std::int64_t, 2>& step) {
        if (dim > 0) {
            count = first.dim(dim);
            step = {first.stride(dim), second.stride(dim)};
            --dim;
        }
    };
    take(runs.inner, runs.inner_step);
    take(runs.outer, runs.outer_step);
    return runs;
}

}  // namespace headscope

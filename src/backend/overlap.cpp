#include "backend/overlap.h"

namespace headscope {

namespace {

// Ignoring every stride that is a multiple of `period`: where within its period a view begins, and how far it reaches.
struct Window {
    std::int64_t begin;
    std::int64_t end;
};

Window window_of(const Tensor& tensor, std::int64_t period) {
    std::int64_t last = 0;
    for (int dim = 0; dim < tensor.rank(); ++dim) {
        if (tensor.stride(dim) % period != 0) {
            last += (tensor.dim(dim) - 1) * tensor.stride(dim);
        }
    }
    const std::int64_t begin = tensor.offset % period;
    return {begin, begin + last};
}

// Two views of one packed tensor (q and k of a q/k/v product) interleave: their elements never share a place modulo the
// length of a packed row.
bool interleave(const Tensor& a, const Tensor& b) {
    if (a.dtype != b.dtype) {
        return false;
    }
    for (int dim = 0; dim < a.rank(); ++dim) {
        const std::int64_t period = a.stride(dim);
        if (period <= 1) {
            continue;
        }
        const Window first = window_of(a, period);
        const Window second = window_of(b, period);
        if (first.end < period && second.end < period && (first.end < second.begin || second.end < first.begin)) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::int64_t reach(const Tensor& tensor) {
    std::int64_t last = 0;
    for (int dim = 0; dim < tensor.rank(); ++dim) {
        last += (tensor.dim(dim) - 1) * tensor.stride(dim);
    }
    return last;
}

bool same_view(const Tensor& a, const Tensor& b) {
    if (a.buffer != b.buffer || a.dtype != b.dtype || a.offset != b.offset || !(a.shape == b.shape)) {
        return false;
    }
    for (int dim = 0; dim < a.rank(); ++dim) {
        if (a.dim(dim) != 1 && a.stride(dim) != b.stride(dim)) {
            return false;
        }
    }
    return true;
}

bool may_overlap(const Tensor& a, const Tensor& b) {
    if (!a.defined() || !b.defined() || a.buffer != b.buffer || a.elements() == 0 || b.elements() == 0) {
        return false;
    }
    const auto width_a = static_cast<std::int64_t>(size_of(a.dtype));
    const auto width_b = static_cast<std::int64_t>(size_of(b.dtype));
    const bool apart = (a.offset + reach(a) + 1) * width_a <= b.offset * width_b ||
                       (b.offset + reach(b) + 1) * width_b <= a.offset * width_a;
    return !apart && !interleave(a, b);
}

}  // namespace headscope

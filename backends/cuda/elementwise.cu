// Fill, Copy, AddScaled and Dropout: strided operands; each thread has several neighbours of the last dimension.
//
// Rule: out is overwritten; copy, multiply and dropout add to it with Write::Accumulate, without reading it otherwise.
// add_scaled, multiply and dropout work in place. Each element is computed in F32 and rounded once, so the order of
// work cannot show.
#include <algorithm>
#include <array>

#include "backend/ops/elementwise.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

constexpr int kTensors = 3;

// Up to three tensors of one shape, with as few dimensions as their strides allow.
struct View {
    std::uint32_t size[kMaxRank] = {1, 1, 1, 1};  // the last counts packs of `width` neighbours
    std::int64_t stride[kTensors][kMaxRank] = {};
    std::uint64_t packs = 1;
    int width = 1;
    bool flat = false;  // only one dimension
};

// Where a thread's pack begins in each tensor.
struct Place {
    std::int64_t at[kTensors];
    std::uint32_t index[kMaxRank];
};

template <class Number>
__device__ inline void divide(const View& view, Number rest, Place& place) {
    for (int dim = kMaxRank - 1; dim >= 0; --dim) {
        const Number above = rest / view.size[dim];
        place.index[dim] = static_cast<std::uint32_t>(rest - above * view.size[dim]);
        rest = above;
        const std::int64_t step = dim == kMaxRank - 1 ? view.width : 1;
        for (int tensor = 0; tensor < kTensors; ++tensor) {
            place.at[tensor] += place.index[dim] * step * view.stride[tensor][dim];
        }
    }
}

__device__ inline bool place_of(const View& view, Place& place) {
    const std::uint64_t pack = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (pack >= view.packs) {
        return false;
    }
    for (int tensor = 0; tensor < kTensors; ++tensor) {
        place.at[tensor] = view.flat ? static_cast<std::int64_t>(pack) * view.width : 0;
    }
    if (!view.flat && view.packs <= 0xFFFFFFFF) {  // 32-bit divisions are a tenth of the instructions
        divide(view, static_cast<std::uint32_t>(pack), place);
    } else if (!view.flat) {
        divide(view, pack, place);
    }
    return true;
}
struct Dimensions {
    std::array<std::int64_t, kMaxRank> size{1, 1, 1, 1};
    std::array<std::array<std::int64_t, kMaxRank>, kTensors> stride{};
};

Dimensions padded(std::initializer_list<const Tensor*> tensors) {
    Dimensions all;
    std::size_t number = 0;
    for (const Tensor* tensor : tensors) {
        const auto first = static_cast<std::size_t>(kMaxRank - tensor->rank());
        for (int dim = 0; dim < tensor->rank(); ++dim) {
            all.size[first + static_cast<std::size_t>(dim)] = tensor->dim(dim);
            all.stride[number][first + static_cast<std::size_t>(dim)] = tensor->stride(dim);
        }
        ++number;
    }
    // A scalar's innermost stride is not set.
    for (auto& stride : all.stride) {
        stride[kMaxRank - 1] = 1;
    }
    return all;
}

// Merges neighbouring dimensions that are contiguous with each other in every tensor.
void merge(Dimensions& all, std::size_t tensors) {
    for (std::size_t inner = kMaxRank - 1; inner > 0; --inner) {
        for (std::size_t outer = inner; outer-- > 0;) {
            bool continues = true;
            for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
                const auto& stride = all.stride[tensor];
                continues = continues && (all.size[outer] == 1 || stride[outer] == stride[inner] * all.size[inner]);
            }
            if (!continues) {
                break;
            }
            all.size[inner] *= std::exchange(all.size[outer], 1);
        }
    }
}

// `may_merge`: the kernel does not need to know the row.
View view_of(std::initializer_list<const Tensor*> tensors, int widest, bool may_merge) {
    Dimensions all = padded(tensors);
    if (may_merge) {
        merge(all, tensors.size());
    }
    View view;
    bool divides = all.size[kMaxRank - 1] % widest == 0;
    for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
        for (std::size_t dim = 0; dim + 1 < kMaxRank; ++dim) {
            divides = divides && (all.size[dim] == 1 || all.stride[tensor][dim] % widest == 0);
        }
    }
    std::size_t number = 0;
    for (const Tensor* tensor : tensors) {
        const std::size_t bytes = static_cast<std::size_t>(widest) * size_of(tensor->dtype);
        divides = divides && aligned({tensor}, std::min<std::size_t>(bytes, 16));
        std::copy(all.stride[number].begin(), all.stride[number].end(), view.stride[number]);
        ++number;
    }
    view.width = divides ? widest : 1;
    all.size[kMaxRank - 1] /= view.width;
    view.flat = may_merge;
    for (std::size_t dim = 0; dim < kMaxRank; ++dim) {
        HEADSCOPE_CHECK(all.size[dim] <= 0xFFFFFFFF, "a dimension has more than 2^32 elements");
        view.size[dim] = static_cast<std::uint32_t>(all.size[dim]);
        view.packs *= view.size[dim];
        view.flat = view.flat && (dim == kMaxRank - 1 || all.size[dim] == 1);
    }
    return view;
}

// Calls visit(Width<N>{}) with the view's width, W or 1.
template <int W, class Visit>
void visit_width(const View& view, const Visit& visit) {
    if (view.width == W) {
        visit(Width<W>{});
    } else {
        visit(Width<1>{});
    }
}

Grid grid_of(const View& view) {
    return item_grid(static_cast<std::int64_t>(view.packs));
}

template <class T, int N>
__global__ void fill(View view, T* out, T value) {
    after_previous();
    Place place;
    if (place_of(view, place)) {
        for (int i = 0; i < N; ++i) {
            out[place.at[0] + i] = value;
        }
    }
}

template <class From, class To, int N>
__global__ void copy(View view, const From* x, To* out, bool accumulate) {
    after_previous();
    Place place;
    if (place_of(view, place)) {
        float values[N];
        load<N>(x + place.at[0], values);
        store<N>(values, out + place.at[1], accumulate);
    }
}

template <class T, int N>
__global__ void add_scaled(View view, const T* a, const T* b, T* out, float alpha, float beta) {
    after_previous();
    Place place;
    if (!place_of(view, place)) {
        return;
    }
    float sum[N];
    load<N>(a + place.at[1], sum);
    for (int i = 0; i < N; ++i) {
        sum[i] *= alpha;
    }
    if (b != nullptr) {
        float second[N];
        load<N>(b + place.at[2], second);
        for (int i = 0; i < N; ++i) {
            sum[i] += beta * second[i];
        }
    }
    store<N>(sum, out + place.at[0]);
}

template <class T, int N>
__global__ void multiply(View view, const T* a, const T* b, T* out, bool accumulate) {
    after_previous();
    Place place;
    if (!place_of(view, place)) {
        return;
    }
    float product[N];
    float second[N];
    load<N>(a + place.at[1], product);
    load<N>(b + place.at[2], second);
    for (int i = 0; i < N; ++i) {
        product[i] *= second[i];
    }
    store<N>(product, out + place.at[0], accumulate);
}

// `heads`: [batch, heads, queries, keys], else [1, batch, length, columns].
template <class T, int N>
__global__ void dropout(View view, const T* x, T* y, DropoutKernel rule, bool heads, bool accumulate) {
    after_previous();
    Place place;
    if (place_of(view, place)) {
        float values[N];
        load<N>(x + place.at[0], values);
        drop<N>(rule, heads ? place.index[0] : place.index[1], heads ? place.index[1] : 0, place.index[2],
                static_cast<std::int64_t>(place.index[3]) * N, values);
        store<N>(values, y + place.at[1], accumulate);
    }
}

}  // namespace

void CudaBackend::run(const Fill& op) {
    if (op.out.elements() == 0) {
        return;
    }
    const View view = view_of({&op.out}, 4, true);
    const auto launch = [&](auto value) {
        using T = decltype(value);
        visit_width<4>(view, [&](auto width) {
            stream_.launch(Fill::kName, fill<T, decltype(width)::value>, grid_of(view), view, data_of<T>(op.out),
                           value);
        });
    };
    if (op.out.dtype == DType::I32) {
        launch(static_cast<std::int32_t>(op.value));
        return;
    }
    visit_real(Fill::kName, op.out.dtype, [&](auto value) {
        from_float(op.value, value);
        launch(value);
    });
}

void CudaBackend::run(const Copy& op) {
    if (op.out.elements() == 0) {
        return;
    }
    const View view = view_of({&op.x, &op.out}, 4, true);
    visit_real(Copy::kName, op.x.dtype, [&](auto from) {
        visit_real(Copy::kName, op.out.dtype, [&](auto to) {
            using From = decltype(from);
            using To = decltype(to);
            visit_width<4>(view, [&](auto width) {
                stream_.launch(Copy::kName, copy<From, To, decltype(width)::value>, grid_of(view), view,
                               data_of<From>(op.x), data_of<To>(op.out), op.write == Write::Accumulate);
            });
        });
    });
}

void CudaBackend::run(const AddScaled& op) {
    if (op.out.elements() == 0) {
        return;
    }
    visit_real(AddScaled::kName, op.out.dtype, [&](auto tag) {
        using T = decltype(tag);
        const View view = op.b.defined() ? view_of({&op.out, &op.a, &op.b}, kVector<T>, true)
                                         : view_of({&op.out, &op.a}, kVector<T>, true);
        visit_width<kVector<T>>(view, [&](auto width) {
            stream_.launch(AddScaled::kName, add_scaled<T, decltype(width)::value>, grid_of(view), view,
                           data_of<T>(op.a), data_of<T>(op.b), data_of<T>(op.out), op.alpha, op.beta);
        });
    });
}

void CudaBackend::run(const Multiply& op) {
    if (op.out.elements() == 0) {
        return;
    }
    visit_real(Multiply::kName, op.out.dtype, [&](auto tag) {
        using T = decltype(tag);
        const View view = view_of({&op.out, &op.a, &op.b}, kVector<T>, true);
        visit_width<kVector<T>>(view, [&](auto width) {
            stream_.launch(Multiply::kName, multiply<T, decltype(width)::value>, grid_of(view), view, data_of<T>(op.a),
                           data_of<T>(op.b), data_of<T>(op.out), op.write == Write::Accumulate);
        });
    });
}

void CudaBackend::run(const Dropout& op) {
    if (op.y.elements() == 0) {
        return;
    }
    visit_real(Dropout::kName, op.y.dtype, [&](auto tag) {
        using T = decltype(tag);
        const View view = view_of({&op.x, &op.y}, kVector<T>, false);
        visit_width<kVector<T>>(view, [&](auto width) {
            stream_.launch(Dropout::kName, dropout<T, decltype(width)::value>, grid_of(view), view, data_of<T>(op.x),
                           data_of<T>(op.y), dropout_kernel(op.rule), op.x.rank() == 4, op.write == Write::Accumulate);
        });
    });
}

}  // namespace headscope::cuda

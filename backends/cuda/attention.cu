// MaskedSoftmax, its backward and EditAttention, with one block for each row of weights; SumDiagonals, CacheAppend and
// MaskKeys.
//
// Rule: outputs are overwritten; grad_scores is added to with Write::Accumulate. Softmax and edits work in place; a
// cache keeps what lies beside the appended rows. A masked entry is exactly 0, and a row's sums have one fixed order.
#include "backend/ops/attention.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/key_mask.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

// What the query of a row of [batch, heads, queries] may see.
__device__ inline Keys keys_of_row(const MaskKernel& mask, std::int64_t heads, std::int64_t row) {
    return mask.of(row / (heads * mask.queries)).keys_of(row % mask.queries);
}

// What MaskedSoftmax adds to scores.
struct ByDistance {
    const float* table;  // [2 most + 1, heads], or null
    std::int64_t most;
    std::int64_t heads;

    __device__ float of(std::int64_t head, std::int64_t distance) const {
        const std::int64_t near = distance < -most ? -most : distance > most ? most : distance;
        return table[(near + most) * heads + head];
    }
};

// Reads the row once if shared memory holds it, else again from global memory.
template <class T>
__global__ void masked_softmax(const T* scores, T* weights, MaskKernel mask, ByDistance by_distance, bool cached) {
    after_previous();
    const std::int64_t row = blockIdx.x;
    const Keys allowed = keys_of_row(mask, by_distance.heads, row);
    const std::int64_t head = row / mask.queries % by_distance.heads;
    const std::int64_t position = (mask.query_offset == nullptr ? 0 : *mask.query_offset) + row % mask.queries;
    const T* from = scores + row * mask.keys;
    T* to = weights + row * mask.keys;
    auto* cache = shared_rest<float>();
    const auto read = [&](std::int64_t key) {
        const float found = to_float(from[key]);
        return by_distance.table == nullptr ? found : found + by_distance.of(head, key - position);
    };
    const auto score = [&](std::int64_t key) { return cached ? cache[key] : read(key); };
    // Each thread takes the same keys in every loop: what it cached and writes in place is its own.
    const std::int64_t first = allowed.begin / blockDim.x * blockDim.x + threadIdx.x;
    float largest = -INFINITY;
    for (std::int64_t key = first; key < allowed.end; key += blockDim.x) {
        const float value = read(key);
        largest = key < allowed.begin ? largest : Maximum()(largest, value);
        if (cached) {
            cache[key] = value;
        }
    }
    largest = reduce_block(largest, Maximum());
    float total = 0.0F;
    for (std::int64_t key = first; key < allowed.end; key += blockDim.x) {
        total += key < allowed.begin ? 0.0F : expf(score(key) - largest);
    }
    total = reduce_block(total, Sum());
    for (std::int64_t key = threadIdx.x; key < mask.keys; key += blockDim.x) {
        from_float(allowed.has(static_cast<int>(key)) ? expf(score(key) - largest) / total : 0.0F, to[key]);
    }
}

template <class T>
__global__ void masked_softmax_backward(const T* weights, const T* grad_weights, T* grad_scores, std::int64_t keys,
                                        bool accumulate) {
    after_previous();
    const std::int64_t first = blockIdx.x * keys;
    float mean = 0.0F;
    for (std::int64_t key = threadIdx.x; key < keys; key += blockDim.x) {
        mean += to_float(weights[first + key]) * to_float(grad_weights[first + key]);
    }
    mean = reduce_block(mean, Sum());
    for (std::int64_t key = threadIdx.x; key < keys; key += blockDim.x) {
        const float grad[1] = {to_float(weights[first + key]) * (to_float(grad_weights[first + key]) - mean)};
        store<1>(grad, grad_scores + first + key, accumulate);
    }
}

// A thread for each sum: neighbours have neighbouring diagonals.
template <class T>
__global__ void sum_diagonals(const T* x, float* sums, std::int64_t count, std::int64_t heads, std::int64_t queries,
                              std::int64_t keys) {
    after_previous();
    const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (item >= count) {
        return;
    }
    const std::int64_t diagonals = queries + keys - 1;
    const std::int64_t diagonal = item % diagonals;
    const std::int64_t head = item / diagonals;           // of all sentences
    const std::int64_t ahead = diagonal - (queries - 1);  // by how much the key is ahead of the query
    const std::int64_t end = queries < keys - ahead ? queries : keys - ahead;
    float sum = 0.0F;
    for (std::int64_t query = ahead < 0 ? -ahead : 0; query < end; ++query) {
        sum += to_float(x[(head * queries + query) * keys + query + ahead]);
    }
    sums[(head / heads * diagonals + diagonal) * heads + head % heads] = sum;
}

template <class T>
__global__ void edit_attention(const T* weights, const std::int32_t* rules, T* out, MaskKernel mask,
                               std::int64_t heads) {
    after_previous();
    const std::int64_t row = blockIdx.x;
    const Keys allowed = keys_of_row(mask, heads, row);
    const std::int64_t first = row * mask.keys;
    const std::int32_t rule = rules[row % (heads * mask.queries)];
    for (std::int64_t key = threadIdx.x; key < mask.keys; key += blockDim.x) {
        const bool is_allowed = allowed.has(static_cast<int>(key));
        if (rule == EditAttention::kOff) {
            from_float(0.0F, out[first + key]);
        } else if (rule == EditAttention::kUniform) {
            from_float(is_allowed ? 1.0F / static_cast<float>(allowed.count()) : 0.0F, out[first + key]);
        } else if (rule >= 0) {
            from_float(key == rule && is_allowed ? 1.0F : 0.0F, out[first + key]);
        } else {
            out[first + key] = weights[first + key];
        }
    }
}

// Of [batch, heads, length, depth], the last contiguous.
struct Strides3 {
    std::int64_t batch, head, row;
};

Strides3 strides_of(const Tensor& x) {
    return {x.stride(0), x.stride(1), x.stride(2)};
}

template <class T>
__global__ void cache_append(const T* x, Strides3 from, T* cache, Strides3 to, const std::int32_t* position,
                             std::int64_t count, std::int64_t heads, std::int64_t length, std::int64_t depth,
                             std::int64_t capacity) {
    after_previous();
    const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (item >= count) {
        return;
    }
    const std::int64_t d = item % depth;
    const std::int64_t i = item / depth % length;
    const std::int64_t h = item / (depth * length) % heads;
    const std::int64_t b = item / (depth * length * heads);
    const std::int64_t row = *position + i;
    if (row >= 0 && row < capacity) {
        cache[b * to.batch + h * to.head + row * to.row + d] = x[b * from.batch + h * from.head + i * from.row + d];
    }
}

template <class T>
__global__ void mask_keys(const T* x, Strides3 from, T* out, MaskKernel mask, std::int64_t heads, std::int64_t count,
                          std::int64_t depth) {
    after_previous();
    const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (item >= count) {
        return;
    }
    const std::int64_t d = item % depth;
    const std::int64_t key = item / depth % mask.keys;
    const std::int64_t head = item / (depth * mask.keys);
    if (mask.of(head / heads).shows(static_cast<int>(key))) {
        out[item] = x[head / heads * from.batch + head % heads * from.head + key * from.row + d];
    } else {
        from_float(0.0F, out[item]);
    }
}

}  // namespace

void CudaBackend::run(const MaskedSoftmax& op) {
    if (op.weights.elements() == 0) {
        return;
    }
    const std::int64_t keys = op.weights.dim(3);
    const MaskKernel mask = mask_kernel(op.mask, op.scores.dim(2), keys);
    constexpr std::int64_t kMostCached = 8192;  // 32 KiB, available on every device
    const bool cached = keys <= kMostCached;
    const Grid grid =
        row_grid(op.weights.elements() / keys, keys, 4, cached ? static_cast<std::size_t>(keys) * sizeof(float) : 0);
    const ByDistance by_distance{data_of<float>(op.by_distance),
                                 op.by_distance.defined() ? op.by_distance.dim(0) / 2 : 0, op.scores.dim(1)};
    visit_real(MaskedSoftmax::kName, op.weights.dtype, [&](auto tag) {
        using T = decltype(tag);
        stream_.launch(MaskedSoftmax::kName, masked_softmax<T>, grid, data_of<T>(op.scores), data_of<T>(op.weights),
                       mask, by_distance, cached);
    });
}

void CudaBackend::run(const MaskedSoftmaxBackward& op) {
    if (op.weights.elements() == 0) {
        return;
    }
    const std::int64_t keys = op.weights.dim(3);
    const Grid grid = row_grid(op.weights.elements() / keys, keys, 4);
    visit_real(MaskedSoftmaxBackward::kName, op.weights.dtype, [&](auto tag) {
        using T = decltype(tag);
        stream_.launch(MaskedSoftmaxBackward::kName, masked_softmax_backward<T>, grid, data_of<T>(op.weights),
                       data_of<T>(op.grad_weights), data_of<T>(op.grad_scores), keys, op.write == Write::Accumulate);
    });
}

void CudaBackend::run(const SumDiagonals& op) {
    const std::int64_t count = op.sums.elements();
    if (count == 0) {
        return;
    }
    visit_real(SumDiagonals::kName, op.x.dtype, [&](auto tag) {
        using T = decltype(tag);
        stream_.launch(SumDiagonals::kName, sum_diagonals<T>, item_grid(count), data_of<T>(op.x),
                       data_of<float>(op.sums), count, op.x.dim(1), op.x.dim(2), op.x.dim(3));
    });
}

void CudaBackend::run(const EditAttention& op) {
    if (op.out.elements() == 0) {
        return;
    }
    const std::int64_t keys = op.out.dim(3);
    const Grid grid = row_grid(op.out.elements() / keys, keys, 4);
    visit_real(EditAttention::kName, op.out.dtype, [&](auto tag) {
        using T = decltype(tag);
        stream_.launch(EditAttention::kName, edit_attention<T>, grid, data_of<T>(op.weights),
                       data_of<std::int32_t>(op.rules), data_of<T>(op.out), mask_kernel(op.mask, op.out.dim(2), keys),
                       op.out.dim(1));
    });
}

void CudaBackend::run(const CacheAppend& op) {
    if (op.x.elements() == 0 || op.cache.elements() == 0) {
        return;
    }
    visit_real(CacheAppend::kName, op.x.dtype, [&](auto tag) {
        using T = decltype(tag);
        stream_.launch(CacheAppend::kName, cache_append<T>, item_grid(op.x.elements()), data_of<T>(op.x),
                       strides_of(op.x), data_of<T>(op.cache), strides_of(op.cache), data_of<std::int32_t>(op.position),
                       op.x.elements(), op.x.dim(1), op.x.dim(2), op.x.dim(3), op.cache.dim(2));
    });
}

void CudaBackend::run(const MaskKeys& op) {
    if (op.out.elements() == 0) {
        return;
    }
    const MaskKernel mask = mask_kernel(op.mask, op.queries, op.x.dim(2));
    visit_real(MaskKeys::kName, op.x.dtype, [&](auto tag) {
        using T = decltype(tag);
        stream_.launch(MaskKeys::kName, mask_keys<T>, item_grid(op.out.elements()), data_of<T>(op.x), strides_of(op.x),
                       data_of<T>(op.out), mask, op.x.dim(1), op.out.elements(), op.x.dim(3));
    });
}

}  // namespace headscope::cuda

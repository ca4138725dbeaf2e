// RouteTokens, its backward, TakeTokens and MixExperts: a thread for each token where experts are compared, a block for
// each expert that gives out its slots, and for each slot; N neighbouring columns for each thread that moves them.
//
// Rule: all is overwritten but grad_logits and mix_experts' out, which are added to with Write::Accumulate. Nothing is
// in place. Places are given in the tokens' order, and a token's choices are added in theirs.
#include "backend/ops/experts.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

struct Tokens {
    const std::int32_t* lengths;  // [batch], or null
    std::int64_t count;
    std::int64_t length;
    std::int64_t experts;
    std::int64_t choices;

    __device__ bool counts(std::int64_t token) const {
        return lengths == nullptr || token % length < lengths[token / length];
    }
};

__device__ inline std::int64_t item_of_thread() {
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__global__ void route_tokens(Tokens tokens, const float* all_logits, float* all_p, std::int32_t* all_chosen) {
    after_previous();
    const std::int64_t token = item_of_thread();
    if (token >= tokens.count) {
        return;
    }
    const float* logits = all_logits + token * tokens.experts;
    float* p = all_p + token * tokens.experts;
    std::int32_t* chosen = all_chosen + token * tokens.choices;
    float most = logits[0];
    for (std::int64_t e = 1; e < tokens.experts; ++e) {
        most = logits[e] > most ? logits[e] : most;
    }
    float sum = 0.0F;
    for (std::int64_t e = 0; e < tokens.experts; ++e) {
        p[e] = expf(logits[e] - most);
        sum += p[e];
    }
    for (std::int64_t e = 0; e < tokens.experts; ++e) {
        p[e] /= sum;
    }
    for (std::int64_t j = 0; j < tokens.choices; ++j) {
        std::int64_t best = -1;
        for (std::int64_t e = 0; e < tokens.experts; ++e) {
            bool taken = false;
            for (std::int64_t i = 0; i < j; ++i) {
                taken = taken || chosen[i] == e;
            }
            if (!taken && (best < 0 || logits[e] > logits[best])) {
                best = e;
            }
        }
        chosen[j] = static_cast<std::int32_t>(best);
    }
}

struct Places {
    std::int64_t capacity;
    const std::int32_t* ordinals;  // [batch], or null: no keys
    std::int32_t* slots;
    std::int32_t* sources;
    float* weights;
    std::int32_t* keys;
    float* shares;
    float* sums;
};

// How many threads before this one want a slot; `all`: of the whole block. Every thread takes part.
__device__ inline int count_before(bool wants, int& all) {
    const auto lane = threadIdx.x % kWarp;
    const auto warp = threadIdx.x / kWarp;
    const unsigned bits = __ballot_sync(kWholeWarp, wants);
    auto* counts = reinterpret_cast<int*>(shared_bytes);
    __syncthreads();  // the last counts have been read
    if (lane == 0) {
        counts[warp] = __popc(bits);
    }
    __syncthreads();
    int before = __popc(bits & ((1U << lane) - 1U));
    all = 0;
    for (unsigned i = 0; i < blockDim.x / kWarp; ++i) {
        before += i < warp ? counts[i] : 0;
        all += counts[i];
    }
    __syncthreads();
    return before;
}

__global__ void place_tokens(Tokens tokens, const float* all_p, const std::int32_t* all_chosen, Places to) {
    after_previous();
    const auto expert = static_cast<std::int64_t>(blockIdx.x);
    std::int64_t taken = 0;
    float count = 0.0F;
    float sum = 0.0F;
    float firsts = 0.0F;
    for (std::int64_t j = 0; j < tokens.choices; ++j) {
        for (std::int64_t first = 0; first < tokens.count; first += blockDim.x) {
            const std::int64_t token = first + threadIdx.x;
            const bool exists = token < tokens.count;
            const bool counts = exists && tokens.counts(token);
            const float* p = all_p + token * tokens.experts;
            const std::int32_t* chosen = all_chosen + token * tokens.choices;
            const bool chose = exists && chosen[j] == expert;
            int now = 0;
            const std::int64_t place = taken + count_before(chose && counts, now);
            taken += now;
            if (j == 0 && counts) {
                count += 1.0F;
                sum += p[expert];
                firsts += chose ? 1.0F : 0.0F;
            }
            if (!chose) {
                continue;
            }
            const bool placed = counts && place < to.capacity;
            const std::int64_t slot = expert * to.capacity + place;
            to.slots[token * tokens.choices + j] = placed ? static_cast<std::int32_t>(slot) : -1;
            if (!placed) {
                continue;
            }
            float whole = tokens.choices == 1 ? 1.0F : 0.0F;
            for (std::int64_t i = 0; i < tokens.choices && tokens.choices > 1; ++i) {
                whole += p[chosen[i]];
            }
            to.sources[slot] = static_cast<std::int32_t>(token);
            to.weights[slot] = p[expert] / whole;
            if (to.keys != nullptr) {
                const std::int64_t sentence = token / tokens.length;
                const std::uint32_t key = 65536U * static_cast<std::uint32_t>(to.ordinals[sentence]) +
                                          static_cast<std::uint32_t>(token - sentence * tokens.length);
                to.keys[slot] = static_cast<std::int32_t>(key * static_cast<std::uint32_t>(tokens.choices) +
                                                          static_cast<std::uint32_t>(j));
            }
        }
    }
    for (std::int64_t place = taken + threadIdx.x; place < to.capacity; place += blockDim.x) {
        const std::int64_t slot = expert * to.capacity + place;
        to.sources[slot] = -1;
        to.weights[slot] = 0.0F;
        if (to.keys != nullptr) {
            to.keys[slot] = 0;
        }
    }
    count = reduce_block(count, Sum());
    sum = reduce_block(sum, Sum());
    firsts = reduce_block(firsts, Sum());
    if (threadIdx.x == 0) {
        to.shares[expert] = count == 0.0F ? 0.0F : firsts / count;
        to.sums[expert] = sum;
    }
}

struct RoutedGradients {
    const float* weights;  // of each slot
    const float* sums;     // [experts], or null
    float* logits;
    bool accumulate;
};

__global__ void route_tokens_backward(Tokens tokens, const float* all_p, const std::int32_t* all_chosen,
                                      const std::int32_t* all_slots, RoutedGradients grads) {
    after_previous();
    const std::int64_t token = item_of_thread();
    if (token >= tokens.count) {
        return;
    }
    const float* p = all_p + token * tokens.experts;
    const std::int32_t* chosen = all_chosen + token * tokens.choices;
    const std::int32_t* slots = all_slots + token * tokens.choices;
    const auto grad_of_choice = [&](std::int64_t j) { return slots[j] < 0 ? 0.0F : grads.weights[slots[j]]; };
    float whole = 1.0F;
    float mean = 0.0F;
    if (tokens.choices > 1) {
        whole = 0.0F;
        for (std::int64_t j = 0; j < tokens.choices; ++j) {
            whole += p[chosen[j]];
            mean += p[chosen[j]] * grad_of_choice(j);
        }
        mean /= whole;
    }
    const auto grad_of = [&](std::int64_t e) {
        float grad = grads.sums == nullptr ? 0.0F : grads.sums[e];
        for (std::int64_t j = 0; j < tokens.choices; ++j) {
            grad += chosen[j] == e ? (grad_of_choice(j) - mean) / whole : 0.0F;
        }
        return grad;
    };
    // The sum of p times its gradient: of weights that share a sum it is 0.
    float along = tokens.choices == 1 ? p[chosen[0]] * grad_of_choice(0) : 0.0F;
    for (std::int64_t e = 0; e < tokens.experts && grads.sums != nullptr; ++e) {
        along += p[e] * grads.sums[e];
    }
    const bool counts = tokens.counts(token);
    for (std::int64_t e = 0; e < tokens.experts; ++e) {
        float& to = grads.logits[token * tokens.experts + e];
        const float grad = counts ? p[e] * (grad_of(e) - along) : 0.0F;
        to = grads.accumulate ? to + grad : grad;
    }
}

template <class T>
struct Taken {
    const T* x;
    const std::int32_t* sources;
    const float* weights;  // [slots], or null
    const T* others;       // [slots, columns], or null
    T* out;
    float* dots;  // [slots], if there are others
    std::int64_t tokens;
    std::int64_t columns;
};

template <class T, int N>
__global__ void take_tokens(Taken<T> p) {
    after_previous();
    const auto slot = static_cast<std::int64_t>(blockIdx.x);
    const std::int64_t source = p.sources[slot];
    const bool full = source >= 0 && source < p.tokens;
    const float weight = p.weights == nullptr ? 1.0F : p.weights[slot];
    float dot = 0.0F;
    for (std::int64_t column = static_cast<std::int64_t>(threadIdx.x) * N; column < p.columns;
         column += static_cast<std::int64_t>(blockDim.x) * N) {
        float values[N] = {};
        if (full) {
            load<N>(p.x + source * p.columns + column, values);
            if (p.others != nullptr) {
                float others[N];
                load<N>(p.others + slot * p.columns + column, others);
                for (int i = 0; i < N; ++i) {
                    dot += others[i] * values[i];
                }
            }
            for (int i = 0; i < N; ++i) {
                values[i] *= weight;
            }
        }
        store<N>(values, p.out + slot * p.columns + column);
    }
    if (p.others != nullptr) {
        dot = reduce_block(dot, Sum());
        if (threadIdx.x == 0) {
            p.dots[slot] = dot;
        }
    }
}

struct Mixed {
    const std::int32_t* slots;
    const float* weights;  // [slots], or null
    std::int64_t packs;    // threads with work
    std::int64_t columns;
    std::int64_t choices;
    std::int64_t count;  // of x's slots
    bool accumulate;
};

template <class T, int N>
__global__ void mix_experts(Mixed p, const T* x, T* out) {
    after_previous();
    const std::int64_t pack = item_of_thread();
    if (pack >= p.packs) {
        return;
    }
    const std::int64_t token = pack * N / p.columns;
    const std::int64_t column = pack * N - token * p.columns;
    float sum[N] = {};
    for (std::int64_t j = 0; j < p.choices; ++j) {
        const std::int64_t slot = p.slots[token * p.choices + j];
        if (slot < 0 || slot >= p.count) {
            continue;
        }
        float values[N];
        load<N>(x + slot * p.columns + column, values);
        for (int i = 0; i < N; ++i) {
            sum[i] += p.weights == nullptr ? values[i] : p.weights[slot] * values[i];
        }
    }
    store<N>(sum, out + pack * N, p.accumulate);
}

// `of` [batch, length, experts]
template <class Op>
Tokens tokens_of(const Op& op, const Tensor& of) {
    return {data_of<std::int32_t>(op.lengths), of.dim(0) * of.dim(1), of.dim(1), of.dim(2), op.chosen.dim(2)};
}

}  // namespace

void CudaBackend::run(const RouteTokens& op) {
    const Tokens tokens = tokens_of(op, op.logits);
    if (tokens.count > 0) {
        stream_.launch(RouteTokens::kName, route_tokens, item_grid(tokens.count), tokens, data_of<float>(op.logits),
                       data_of<float>(op.probabilities), data_of<std::int32_t>(op.chosen));
    }
    stream_.launch(RouteTokens::kName, place_tokens, row_grid(tokens.experts, tokens.count, 1), tokens,
                   data_of<float>(op.probabilities), data_of<std::int32_t>(op.chosen),
                   Places{op.sources.dim(1), data_of<std::int32_t>(op.ordinals), data_of<std::int32_t>(op.slots),
                          data_of<std::int32_t>(op.sources), data_of<float>(op.weights), data_of<std::int32_t>(op.keys),
                          data_of<float>(op.shares), data_of<float>(op.sums)});
}

void CudaBackend::run(const RouteTokensBackward& op) {
    const Tokens tokens = tokens_of(op, op.probabilities);
    if (tokens.count == 0) {
        return;
    }
    stream_.launch(RouteTokensBackward::kName, route_tokens_backward, item_grid(tokens.count), tokens,
                   data_of<float>(op.probabilities), data_of<std::int32_t>(op.chosen), data_of<std::int32_t>(op.slots),
                   RoutedGradients{data_of<float>(op.grad_weights), data_of<float>(op.grad_sums),
                                   data_of<float>(op.grad_logits), op.write == Write::Accumulate});
}

void CudaBackend::run(const TakeTokens& op) {
    const std::int64_t slots = op.out.dim(0);
    if (slots == 0) {
        return;
    }
    visit_rows(TakeTokens::kName, op.x.dtype, op.x.dim(1), {&op.x, &op.others, &op.out}, [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kWidth = decltype(width)::value;
        stream_.launch(
            TakeTokens::kName, take_tokens<T, kWidth>, row_grid(slots, op.x.dim(1), kWidth),
            Taken<T>{data_of<T>(op.x), data_of<std::int32_t>(op.sources), data_of<float>(op.weights),
                     data_of<T>(op.others), data_of<T>(op.out), data_of<float>(op.dots), op.x.dim(0), op.x.dim(1)});
    });
}

void CudaBackend::run(const MixExperts& op) {
    if (op.out.elements() == 0) {
        return;
    }
    visit_rows(MixExperts::kName, op.x.dtype, op.x.dim(1), {&op.x, &op.out}, [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kWidth = decltype(width)::value;
        const std::int64_t packs = op.out.elements() / kWidth;
        stream_.launch(MixExperts::kName, mix_experts<T, kWidth>, item_grid(packs),
                       Mixed{data_of<std::int32_t>(op.slots), data_of<float>(op.weights), packs, op.x.dim(1),
                             op.slots.dim(1), op.x.dim(0), op.write == Write::Accumulate},
                       data_of<T>(op.x), data_of<T>(op.out));
    });
}

}  // namespace headscope::cuda

// Products worth a library call. oneDNN runs single-threaded on slices that our threads take, so that no OpenMP threads
// spin next to ours.
#include <omp.h>
#include <dnnl.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "backends/cpu/clones.h"
#include "backends/cpu/processor.h"
#include "backends/cpu/products.h"
#include "backends/cpu/row_math.h"
#include "support/check.h"

namespace headscope::cpu {

namespace {

// Slices end at multiples of this, so that products of all lengths have few distinct shapes (each BF16 shape is
// compiled).
constexpr std::int64_t kStep = 64;
constexpr std::int64_t kWorthASlice = 1 << 19;  // multiplications: about 10 microseconds

std::int64_t round_up(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
}

// One matrix of a product as pointers; element type T.
template <class T>
struct Piece {
    const T* a;
    const T* b;
    float* out;
    std::int64_t a_step, b_step, out_step;
    std::int64_t m, n, k;
    bool transpose_a, transpose_b;
    float alpha, beta;
};

template <class T>
Piece<T> rows_of(Piece<T> piece, std::int64_t begin, std::int64_t end) {
    piece.a += piece.transpose_a ? begin : begin * piece.a_step;
    piece.out += begin * piece.out_step;
    piece.m = end - begin;
    return piece;
}

template <class T>
Piece<T> columns_of(Piece<T> piece, std::int64_t begin, std::int64_t end) {
    piece.b += piece.transpose_b ? begin * piece.b_step : begin;
    piece.out += begin;
    piece.n = end - begin;
    return piece;
}

void stay_single_threaded() {
    thread_local bool done = false;  // OpenMP's number of threads is set for each thread
    if (!done) {
        omp_set_num_threads(1);
        done = true;
    }
}

void run_piece(const Piece<float>& p) {
    const dnnl_status_t status = dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k,
                                            p.alpha, p.a, p.a_step, p.b, p.b_step, p.beta, p.out, p.out_step);
    HEADSCOPE_CHECK(status == dnnl_success, "dnnl_sgemm failed with status " + std::to_string(status));
}

using Bf16 = std::uint16_t;

struct Compiled {
    dnnl::matmul product;
    dnnl::memory a, b, out;
};

const dnnl::engine& engine() {
    static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    return cpu;
}

// API differences between oneDNN 3 and 2.
#if DNNL_VERSION_MAJOR >= 3
void append_factor(dnnl::post_ops& then, float factor) {
    then.append_eltwise(dnnl::algorithm::eltwise_linear, factor, 0.0F);
}

dnnl::matmul::primitive_desc describe(const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                                      const dnnl::memory::desc& out, const dnnl::primitive_attr& attributes) {
    return {engine(), a, b, out, attributes};
}
#else
void append_factor(dnnl::post_ops& then, float factor) {
    then.append_eltwise(1.0F, dnnl::algorithm::eltwise_linear, factor, 0.0F);
}

dnnl::matmul::primitive_desc describe(const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                                      const dnnl::memory::desc& out, const dnnl::primitive_attr& attributes) {
    return {dnnl::matmul::desc(a, b, out), attributes, engine()};
}
#endif

Compiled compile(const Piece<Bf16>& p) {
    using dnnl::memory;
    const auto strides = [](bool transposed, std::int64_t step) {
        return transposed ? memory::dims{1, step} : memory::dims{step, 1};
    };
    const memory::desc a({p.m, p.k}, memory::data_type::bf16, strides(p.transpose_a, p.a_step));
    const memory::desc b({p.k, p.n}, memory::data_type::bf16, strides(p.transpose_b, p.b_step));
    const memory::desc out({p.m, p.n}, memory::data_type::f32, memory::dims{p.out_step, 1});
    dnnl::primitive_attr attributes;
    dnnl::post_ops then;
    if (p.alpha != 1.0F) {
        append_factor(then, p.alpha);
    }
    if (p.beta != 0.0F) {
        then.append_sum(p.beta);
    }
    attributes.set_post_ops(then);
    return {dnnl::matmul(describe(a, b, out, attributes)), memory(a, engine(), nullptr), memory(b, engine(), nullptr),
            memory(out, engine(), nullptr)};
}

void run_compiled(const Piece<Bf16>& p) {
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool,
                           bool, float, float>;
    constexpr std::size_t kMostCompiled = 1024;
    thread_local std::map<Key, Compiled> compiled;  // a primitive's scratch memory belongs to one thread
    thread_local dnnl::stream stream(engine());
    const Key key{p.m, p.n, p.k, p.a_step, p.b_step, p.out_step, p.transpose_a, p.transpose_b, p.alpha, p.beta};
    auto found = compiled.find(key);
    if (found == compiled.end()) {
        if (compiled.size() >= kMostCompiled) {
            compiled.clear();
        }
        found = compiled.emplace(key, compile(p)).first;
    }
    Compiled& product = found->second;
    product.a.set_data_handle(const_cast<Bf16*>(p.a));
    product.b.set_data_handle(const_cast<Bf16*>(p.b));
    product.out.set_data_handle(p.out);
    product.product.execute(stream,
                            {{DNNL_ARG_SRC, product.a}, {DNNL_ARG_WEIGHTS, product.b}, {DNNL_ARG_DST, product.out}});
}

// oneDNN 3.7 multiplies a single row wrongly if its elements are not contiguous.
Piece<Bf16> laid_together(Piece<Bf16> p) {
    thread_local std::vector<Bf16> row;
    if (p.m == 1 && p.transpose_a) {
        row.resize(static_cast<std::size_t>(p.k));
        for (std::int64_t i = 0; i < p.k; ++i) {
            row[static_cast<std::size_t>(i)] = p.a[i * p.a_step];
        }
        p.a = row.data();
        p.a_step = p.k;
        p.transpose_a = false;
    }
    return p;
}

// Blocks of kBlockRows rows, then the rest down to a multiple of kStep, then what remains: whatever the number of
// tokens, few shapes are compiled.
void run_piece(const Piece<Bf16>& p) {
    constexpr std::int64_t kBlockRows = 8 * kStep;
    for (std::int64_t row = 0; row < p.m;) {
        const std::int64_t left = p.m - row;
        const std::int64_t rows = left >= kBlockRows ? kBlockRows : left >= kStep ? left / kStep * kStep : left;
        run_compiled(laid_together(rows_of(p, row, row + rows)));
        row += rows;
    }
}

// The number of slices of a product: a few for threads to share, more if each is long. It depends only on the shape, so
// that the bits do not depend on the number of threads.
std::int64_t slices_of(std::int64_t multiplications) {
    constexpr std::int64_t kFew = 4;
    constexpr std::int64_t kMost = 64;
    constexpr std::int64_t kLongSlice = std::int64_t{1} << 26;  // about 0.6 ms of one core
    const std::int64_t few = std::min(kFew, multiplications / kWorthASlice);
    return std::clamp<std::int64_t>(std::max(few, multiplications / kLongSlice), 1, kMost);
}

// Cuts the longer side, at multiples of kStep.
template <class T>
void run_sliced(ThreadPool& pool, const Piece<T>& piece) {
    const bool by_rows = piece.m >= piece.n;
    const std::int64_t side = by_rows ? piece.m : piece.n;
    const std::int64_t wanted = slices_of(piece.m * piece.n * piece.k);
    const std::int64_t slice = round_up((side + wanted - 1) / wanted, kStep);
    pool.run((side + slice - 1) / slice, [&](std::int64_t part) {
        stay_single_threaded();
        const std::int64_t begin = part * slice;
        const std::int64_t end = std::min(side, begin + slice);
        run_piece(by_rows ? rows_of(piece, begin, end) : columns_of(piece, begin, end));
    });
}

Piece<float> piece_of(const Product& p, std::int64_t outer, std::int64_t inner) {
    const OneProduct one = one_of(p, outer, inner);
    return {one.a, one.b, one.out,       one.a_step,    one.b_step, one.out_step, one.m,
            one.n, one.k, p.transpose_a, p.transpose_b, one.alpha,  one.beta};
}

HEADSCOPE_CLONES void round_row(const float* from, std::int64_t count, Bf16* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = static_cast<Bf16>(bf16_bits(from[i]));
    }
}

HEADSCOPE_CLONES void round_row(const float* from, std::int64_t count, float* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = bf16_rounded(from[i]);
    }
}

// `rows` rows of a matrix, rounded and contiguous, with zeros up to `padded_rows`.
template <class T>
const T* rounded(ThreadPool& pool, const float* from, std::int64_t step, std::int64_t rows, std::int64_t columns,
                 std::int64_t padded_rows, std::vector<T>& to) {
    const auto size = static_cast<std::size_t>(padded_rows * columns);
    if (to.size() < size) {
        to.resize(size);
    }
    constexpr std::int64_t kWorthAThread = 1 << 15;
    pool.for_ranges(rows, kWorthAThread / columns + 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            round_row(from + row * step, columns, to.data() + row * columns);
        }
    });
    std::fill(to.begin() + rows * columns, to.begin() + padded_rows * columns, T{0});
    return to.data();
}

template <class T>
void run_rounded(ThreadPool& pool, const Piece<float>& p) {
    thread_local std::vector<T> a_rounded, b_rounded;  // kept, so that each step reuses the same pages
    Piece<T> piece{nullptr,
                   nullptr,
                   p.out,
                   p.transpose_a ? p.m : p.k,
                   p.transpose_b ? p.k : p.n,
                   p.out_step,
                   p.m,
                   p.n,
                   p.k,
                   p.transpose_a,
                   p.transpose_b,
                   p.alpha,
                   p.beta};
    // If k counts rows of both operands (a weight's gradient: k = the tokens of a batch), it is padded with zeros.
    if (p.transpose_a && !p.transpose_b) {
        piece.k = round_up(p.k, kStep);
    }
    piece.a = p.transpose_a ? rounded(pool, p.a, p.a_step, p.k, p.m, piece.k, a_rounded)
                            : rounded(pool, p.a, p.a_step, p.m, p.k, p.m, a_rounded);
    piece.b = p.transpose_b ? rounded(pool, p.b, p.b_step, p.n, p.k, p.n, b_rounded)
                            : rounded(pool, p.b, p.b_step, p.k, p.n, piece.k, b_rounded);
    run_sliced(pool, piece);
}

void multiply_piece(ThreadPool& pool, const Piece<float>& piece, Compute compute) {
    if (compute != Compute::BF16) {
        run_sliced(pool, piece);
    } else if (has_bf16_products()) {
        run_rounded<Bf16>(pool, piece);
    } else {
        run_rounded<float>(pool, piece);
    }
}

}  // namespace

void multiply_large(ThreadPool& pool, const Product& product) {
    const std::int64_t items = product.outer * product.inner;
    const auto piece_at = [&](std::int64_t item) {
        return piece_of(product, item / product.inner, item % product.inner);
    };
    if (items < pool.size()) {
        for (std::int64_t item = 0; item < items; ++item) {
            multiply_piece(pool, piece_at(item), product.compute);
        }
        return;
    }
    constexpr std::int64_t kWorthAThread = 1 << 17;  // multiplications
    const std::int64_t each = product.m * product.n * product.k;
    pool.for_ranges(items, kWorthAThread / each, [&](std::int64_t begin, std::int64_t end) {
        ThreadPool alone(1);
        for (std::int64_t item = begin; item < end; ++item) {
            multiply_piece(alone, piece_at(item), product.compute);
        }
    });
}

}  // namespace headscope::cpu

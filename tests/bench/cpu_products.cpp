// GFLOP/s of the CPU's products and milliseconds of its row ops, at the shapes of training and of decoding.
// bench_cpu [threads] [products|weights|rows]
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backend/ops/attention.h"
#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/layer_norm.h"
#include "backend/ops/loss.h"
#include "backend/ops/matmul.h"
#include "backend/ops/optimizer.h"
#include "backend/ops/search.h"
#include "backends/cpu/open.h"

namespace {

using namespace headscope;

// Of one call: the best of several rounds, since other processes only ever make it slower. Processor time counts all
// threads; on a busy machine it says more than the clock.
struct Timing {
    double seconds = 1e30;
    double processor = 1e30;
};

Timing timing_of(const std::function<void()>& body) {
    using Clock = std::chrono::steady_clock;
    constexpr double kRound = 0.03;
    constexpr int kRounds = 5;
    body();
    int calls = 1;
    Timing best;
    for (int round = 0; round < kRounds;) {
        const Clock::time_point begin = Clock::now();
        const std::clock_t processor_begin = std::clock();
        for (int i = 0; i < calls; ++i) {
            body();
        }
        const double processor = static_cast<double>(std::clock() - processor_begin) / CLOCKS_PER_SEC;
        const double length = std::chrono::duration<double>(Clock::now() - begin).count();
        if (processor < kRound) {
            calls *= 2;
            continue;
        }
        best.seconds = std::min(best.seconds, length / calls);
        best.processor = std::min(best.processor, processor / calls);
        ++round;
    }
    return best;
}

Tensor noise(Backend& backend, const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    std::uint32_t state = 12345;
    for (float& value : values) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<float>(state >> 8U) / 8388608.0F - 1.0F;
    }
    return make_from_host(backend, shape, DType::F32, values);
}

struct Case {
    const char* what;
    std::int64_t batch, heads, m, n, k;
    bool transpose_a, transpose_b;
    Compute compute = Compute::F32;
};

void report_product(Backend& backend, const Case& c) {
    const auto matrix = [&](std::int64_t rows, std::int64_t columns, bool transposed) {
        const std::int64_t first = transposed ? columns : rows;
        const std::int64_t second = transposed ? rows : columns;
        return c.batch * c.heads == 1 ? noise(backend, Shape{first, second})
                                      : noise(backend, Shape{c.batch, c.heads, first, second});
    };
    Matmul op{.a = matrix(c.m, c.k, c.transpose_a),
              .b = matrix(c.k, c.n, c.transpose_b),
              .out = matrix(c.m, c.n, false),
              .transpose_a = c.transpose_a,
              .transpose_b = c.transpose_b,
              .compute = c.compute};
    const Timing timing = timing_of([&] { backend.run(op); });
    const double operations = 2.0 * static_cast<double>(c.batch * c.heads * c.m * c.n * c.k);
    const double read = 4.0 * static_cast<double>(c.batch * c.heads * c.k * c.n);
    fmt::print(
        "{:<34} {:>5}x [{:>5}x{:>5}]{} [{:>5}x{:>5}]{} {:<4} {:>9.3f} ms ({:>8.3f} of processor) {:>6.1f} GFLOP/s "
        "{:>5.1f} GB/s of b\n",
        c.what, c.batch * c.heads, c.m, c.k, c.transpose_a ? "^T" : "  ", c.k, c.n, c.transpose_b ? "^T" : "  ",
        name_of(c.compute), timing.seconds * 1e3, timing.processor * 1e3, operations / timing.seconds * 1e-9,
        read / timing.seconds * 1e-9);
}

// x . W^T as decoding meets it: weights in every way that they may be stored, of so many layers that they come from the
// outer caches.
void report_weights(Backend& backend, std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr std::int64_t kBytes = 1 << 24;
    const Tensor a = noise(backend, Shape{m, k});
    const Tensor out = noise(backend, Shape{m, n});
    const Tensor scales = noise(backend, Shape{n});
    std::vector<float> values = to_host<float>(backend, noise(backend, Shape{n, k}));
    for (float& value : values) {
        value *= 127.0F;
    }
    for (const DType dtype : {DType::F32, DType::F16, DType::I8}) {
        for (const bool packed : {false, true}) {
            std::vector<Matmul> layers;
            const std::int64_t bytes = n * k * static_cast<std::int64_t>(size_of(dtype));
            for (std::int64_t i = 0; i < std::max<std::int64_t>(kBytes / bytes, 1); ++i) {
                const Tensor b = make_from_host(backend, Shape{n, k}, dtype, values);
                layers.push_back({.a = a,
                                  .b = packed ? backend.pack(b) : b,
                                  .out = out,
                                  .transpose_b = true,
                                  .b_scales = dtype == DType::I8 ? scales : Tensor()});
            }
            std::size_t next = 0;
            const Timing timing = timing_of([&] { backend.run(layers[next++ % layers.size()]); });
            fmt::print(
                "weights {:<4}{} {:>5} rows [{:>5}x{:>5}] {:>9.3f} us ({:>9.3f} of processor) {:>6.1f} GFLOP/s "
                "{:>5.1f} "
                "GB/s\n",
                name_of(dtype), packed ? " packed" : "       ", m, n, k, timing.seconds * 1e6, timing.processor * 1e6,
                2e-9 * static_cast<double>(m * n * k) / timing.seconds,
                1e-9 * static_cast<double>(bytes) / timing.seconds);
        }
    }
}

void report_op(const std::string& what, const std::function<void()>& body) {
    const Timing timing = timing_of(body);
    fmt::print("{:<60} {:>9.3f} ms ({:>8.3f} of processor)\n", what, timing.seconds * 1e3, timing.processor * 1e3);
}

void report_rows(Backend& backend) {
    constexpr std::int64_t kBatch = 64;
    constexpr std::int64_t kLength = 32;
    const Tensor step = make_from_host<std::int32_t>(backend, Shape{1}, DType::I32, {7});
    std::vector<std::int32_t> counted(kBatch);
    for (std::size_t i = 0; i < counted.size(); ++i) {
        counted[i] = static_cast<std::int32_t>(i);
    }
    const Tensor ordinals = make_from_host(backend, Shape{kBatch}, DType::I32, counted);
    const DropoutRule rule{.rate = 0.1F, .seed = 1, .site = 2, .step = step, .ordinals = ordinals};

    const Tensor wide = noise(backend, Shape{kBatch, kLength, 1024});
    const Tensor wide_out = noise(backend, Shape{kBatch, kLength, 1024});
    const Tensor wide_bias = noise(backend, Shape{1024});
    report_op("dropout [64, 32, 1024]", [&] { backend.run(Dropout{.x = wide, .y = wide_out, .rule = rule}); });
    report_op("bias + relu + dropout [64, 32, 1024]", [&] {
        backend.run(BiasActivation{
            .x = wide, .bias = wide_bias, .y = wide_out, .activation = Activation::Relu, .dropout = rule});
    });
    report_op("bias + gelu [64, 32, 1024]", [&] {
        backend.run(BiasActivation{.x = wide, .bias = wide_bias, .y = wide_out, .activation = Activation::Gelu});
    });
    report_op("relu + dropout backward [64, 32, 1024]", [&] {
        backend.run(BiasActivationBackward{
            .x = wide, .grad_y = wide, .grad_x = wide_out, .activation = Activation::Relu, .dropout = rule});
    });
    report_op("sum rows [2048, 1024]", [&] {
        backend.run(SumRows{.x = wide.reshape(Shape{kBatch * kLength, 1024}), .out = wide_bias});
    });

    const Tensor x = noise(backend, Shape{kBatch, kLength, 256});
    const Tensor y = noise(backend, Shape{kBatch, kLength, 256});
    const Tensor sum = noise(backend, Shape{kBatch, kLength, 256});
    const Tensor grad = noise(backend, Shape{kBatch, kLength, 256});
    const Tensor gain = noise(backend, Shape{256});
    const Tensor bias = noise(backend, Shape{256});
    const Tensor grad_gain = noise(backend, Shape{256});
    const Tensor grad_bias = noise(backend, Shape{256});
    const Tensor mean = noise(backend, Shape{kBatch, kLength});
    const Tensor rstd = noise(backend, Shape{kBatch, kLength});
    report_op("add + dropout + layer norm [64, 32, 256]", [&] {
        backend.run(AddLayerNorm{.x = x,
                                 .residual = grad,
                                 .gain = gain,
                                 .bias = bias,
                                 .sum = sum,
                                 .y = y,
                                 .mean = mean,
                                 .rstd = rstd,
                                 .dropout = rule});
    });
    report_op("layer norm backward [64, 32, 256]", [&] {
        backend.run(AddLayerNormBackward{.sum = sum,
                                         .gain = gain,
                                         .mean = mean,
                                         .rstd = rstd,
                                         .grad_y = x,
                                         .grad_x = grad,
                                         .grad_residual = y,
                                         .grad_gain = grad_gain,
                                         .grad_bias = grad_bias,
                                         .dropout = rule});
    });

    const Tensor scores = noise(backend, Shape{kBatch, 8, kLength, kLength});
    const Tensor weights = noise(backend, Shape{kBatch, 8, kLength, kLength});
    report_op("masked softmax [64, 8, 32, 32], causal",
              [&] { backend.run(MaskedSoftmax{.scores = scores, .weights = weights, .mask = {.causal = true}}); });
    report_op("masked softmax backward [64, 8, 32, 32]", [&] {
        backend.run(MaskedSoftmaxBackward{.weights = weights, .grad_weights = scores, .grad_scores = scores});
    });
    report_op("dropout [64, 8, 32, 32]", [&] { backend.run(Dropout{.x = weights, .y = scores, .rule = rule}); });

    const Tensor logits = noise(backend, Shape{512, 8000});
    const Tensor grad_logits = noise(backend, Shape{512, 8000});
    const Tensor targets = make_from_host(backend, Shape{512}, DType::I32, std::vector<std::int32_t>(512, 3));
    const Tensor loss = noise(backend, Shape{512});
    const Tensor nll = noise(backend, Shape{512});
    report_op("smoothed cross-entropy with gradient [512, 8000]", [&] {
        backend.run(SmoothedCrossEntropy{.logits = logits,
                                         .targets = targets,
                                         .loss = loss,
                                         .nll = nll,
                                         .grad_logits = grad_logits,
                                         .epsilon = 0.1F});
    });
    const Tensor top_values = noise(backend, Shape{128, 8});
    const Tensor top_indices = backend.empty(Shape{128, 8}, DType::I32);
    report_op("log softmax top 8 [128, 8000]", [&] {
        backend.run(LogSoftmaxTopK{.logits = logits.narrow(0, 0, 128), .values = top_values, .indices = top_indices});
    });

    const Shape flat{10'000'000};
    const Tensor parameter = noise(backend, flat);
    const Tensor gradient = noise(backend, flat);
    const Tensor m = noise(backend, flat);
    const Tensor v = make_from_host(backend, flat, DType::F32, std::vector<float>(10'000'000, 0.5F));
    const Tensor scalars =
        make_from_host<float>(backend, Shape{StepScalars::Count}, DType::F32, {1e-9F, 1, 1, 1, 1, 0, 1, 1, 0, 1});
    report_op("adam, 10 million parameters",
              [&] { backend.run(Adam{.parameter = parameter, .grad = gradient, .m = m, .v = v, .scalars = scalars}); });
    report_op("square sum, 10 million", [&] { backend.run(SquareSum{.x = gradient, .out = scalars.narrow(0, 0, 1)}); });
}

void report_attention(Backend& backend) {
    const Tensor query = noise(backend, Shape{128, 8, 1, 32});
    const Tensor cache = noise(backend, Shape{128, 8, 64, 32});
    const Tensor out = noise(backend, Shape{128, 8, 1, 32});
    const auto attention = [&] { return Attention{.q = query, .k = cache, .v = cache, .out = out}; };
    report_op("fused attention, 128 sentences x 8 heads, 1 query, 64 keys", [&] { backend.run(attention()); });
    report_op("the same from core ops", [&] { backend.Backend::run(attention()); });
    // A step of beam search: three layers of caches, whose rows belong to other hypotheses of the sentence.
    constexpr std::int64_t kRoom = 16;
    const Tensor caches = noise(backend, Shape{128, 48, kRoom, 32});
    for (const std::int64_t keys : {2, 4, 8, 16}) {
        for (const bool named : {false, true}) {
            std::vector<std::int32_t> names(static_cast<std::size_t>(keys * 128));
            for (std::size_t i = 0; i < names.size(); ++i) {
                names[i] = static_cast<std::int32_t>(i % 128 / 4 * 4 + (named ? i / 128 * 7 % 4 : i % 4));
            }
            const Tensor rows = make_from_host<std::int32_t>(backend, Shape{keys, 128}, DType::I32, names);
            const auto step = [&] {
                for (std::int64_t layer = 0; layer < 3; ++layer) {
                    const Tensor k = caches.narrow(1, 16 * layer, 8).narrow(2, 0, keys);
                    const Tensor v = caches.narrow(1, 16 * layer + 8, 8).narrow(2, 0, keys);
                    backend.run(Attention{.q = query, .k = k, .v = v, .out = out, .key_rows = rows});
                }
            };
            report_op(fmt::format("3 layers of 128 hypotheses x 8 heads, {} keys, {}", keys, named ? "shared" : "own"),
                      step);
        }
    }
}

void report_products(Backend& backend) {
    const std::vector<Case> cases{
        {"feed-forward 1", 1, 1, 2000, 1024, 256, false, true},
        {"feed-forward 2", 1, 1, 2000, 256, 1024, false, true},
        {"its input's gradient", 1, 1, 2000, 256, 1024, false, false},
        {"its weight's gradient", 1, 1, 1024, 256, 2000, true, false},
        {"both transposed", 1, 1, 1024, 256, 2000, true, true},
        {"projection to 8000 classes", 1, 1, 512, 8000, 256, false, true},
        {"its weight's gradient", 1, 1, 8000, 256, 512, true, false},
        {"feed-forward 1", 1, 1, 2000, 1024, 256, false, true, Compute::BF16},
        {"feed-forward 2", 1, 1, 2000, 256, 1024, false, true, Compute::BF16},
        {"its weight's gradient", 1, 1, 1024, 256, 2000, true, false, Compute::BF16},
        {"projection to 8000 classes", 1, 1, 512, 8000, 256, false, true, Compute::BF16},
        {"its weight's gradient", 1, 1, 8000, 256, 512, true, false, Compute::BF16},
        {"attention scores", 64, 8, 32, 32, 32, false, true},
        {"attention values", 64, 8, 32, 32, 32, false, false},
        {"attention gradient", 64, 8, 32, 32, 32, true, false},
        {"attention scores, short", 256, 8, 8, 8, 32, false, true},
        {"attention scores, long", 16, 8, 120, 120, 32, false, true},
        {"attention scores, BF16", 64, 8, 32, 32, 32, false, true, Compute::BF16},
        {"decoding, 1 row", 1, 1, 1, 8000, 256, false, true},
        {"decoding, 4 rows", 1, 1, 4, 8000, 256, false, true},
        {"decoding, 8 rows", 1, 1, 8, 1024, 256, false, true},
        {"decoding, 32 rows", 1, 1, 32, 8000, 256, false, true},
        {"decoding, 128 rows", 1, 1, 128, 8000, 256, false, true},
        {"decoding, 128 small", 1, 1, 128, 256, 256, false, true},
    };
    for (const Case& c : cases) {
        report_product(backend, c);
    }
}

void report_all_weights(Backend& backend) {
    constexpr std::pair<std::int64_t, std::int64_t> kShapes[] = {{256, 256}, {768, 256}, {256, 1024}, {8000, 256}};
    for (const std::int64_t rows : {1, 2, 4, 8, 16, 20, 24, 32, 128, 1024}) {
        for (const auto& [n, k] : kShapes) {
            report_weights(backend, rows, n, k);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto backend = open_cpu(CpuOptions{.threads = argc > 1 ? std::atoi(argv[1]) : 0});
    fmt::print("{}, {}\n", backend->device().name, backend->device().driver);
    const std::string what = argc > 2 ? argv[2] : "";
    if (what.empty() || what == "products") {
        report_products(*backend);
    }
    if (what.empty() || what == "weights") {
        report_all_weights(*backend);
    }
    if (what.empty() || what == "rows") {
        report_rows(*backend);
        report_attention(*backend);
    }
    return 0;
}

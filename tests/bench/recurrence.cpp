// Milliseconds of a recurrent layer's forward and backward on the CPU, for recurrence.py.
// bench_recurrence lstm|gru BATCH LENGTH D DIRECTIONS THREADS: one time for each line read from standard input.
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "autograd/functions.h"
#include "autograd/recurrence.h"
#include "backend/ops/elementwise.h"
#include "backends/cpu/open.h"

namespace {

using namespace headscope;

Var noise(Backend& backend, const Shape& shape, bool trained, float scale) {
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    std::uint32_t state = 12345;
    for (float& value : values) {
        state = state * 1664525U + 1013904223U;
        value = scale * (static_cast<float>(state >> 8U) / 8388608.0F - 1.0F);
    }
    return Var(make_from_host(backend, shape, DType::F32, values), trained);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 7) {
        fmt::print(stderr, "usage: bench_recurrence lstm|gru BATCH LENGTH D DIRECTIONS THREADS\n");
        return 2;
    }
    const RecurrentCell cell = std::string(arguments[1]) == "gru" ? RecurrentCell::Gru : RecurrentCell::Lstm;
    const std::int64_t batch = std::atoll(arguments[2]);
    const std::int64_t length = std::atoll(arguments[3]);
    const std::int64_t d = std::atoll(arguments[4]);
    const std::int64_t directions = std::atoll(arguments[5]);
    const auto backend = open_cpu({.threads = std::atoi(arguments[6])});
    const std::int64_t gates = gates_of(cell) * d;
    const Var x = noise(*backend, {batch, length, d}, true, 1.0F);
    const Var input_weight = noise(*backend, {directions * gates, d}, true, 0.05F);
    const Var input_bias = noise(*backend, {directions * gates}, true, 0.05F);
    std::vector<RecurrentWeights> weights;
    for (std::int64_t i = 0; i < directions; ++i) {
        weights.push_back({noise(*backend, {gates, d}, true, 0.05F),
                           cell == RecurrentCell::Gru ? noise(*backend, {gates}, true, 0.05F) : Var()});
    }
    const Tensor grad = noise(*backend, {batch, length, directions * d}, false, 1.0F).value();
    std::vector<Var> leaves{x, input_weight, input_bias};
    for (const RecurrentWeights& each : weights) {
        leaves.push_back(each.weight);
        if (each.bias.defined()) {
            leaves.push_back(each.bias);
        }
    }
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto begin = std::chrono::steady_clock::now();
        Tape tape;
        Context ctx{*backend, &tape};
        const Var inputs = linear_activation(ctx, x, input_weight, input_bias, Activation::None);
        const Recurrence result = recurrence(ctx, cell, inputs, weights, {}, {});
        backend->run(Copy{.x = grad, .out = result.y.gradient_target(*backend).tensor});
        tape.backward(*backend);
        backend->synchronize();
        const auto end = std::chrono::steady_clock::now();
        for (const Var& leaf : leaves) {
            leaf.forget_gradient();
        }
        fmt::print("{:.4f}\n", std::chrono::duration<double, std::milli>(end - begin).count());
        std::fflush(stdout);
    }
    return 0;
}

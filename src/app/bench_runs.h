// What `headscope bench` times, in this process, on random weights and tokens: speed depends on shapes alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "backend/precision.h"
#include "model/config.h"

namespace headscope {

struct BenchShape {
    ModelConfig model;
    std::int64_t sentences = 32;
    std::int64_t source_length = 32;  // eos counted; no pads, so that every token is work
    std::int64_t target_length = 32;
    int beam = 1;          // translating only
    float dropout = 0.1F;  // training only
    Arithmetic arithmetic = {};
};

// Bytes that a run cannot do without, so that what will never fit is said at once: while training the values, gradients
// and Adam's two moments, and what the forward pass keeps of each token for the way back; else the values and the keys
// and values of a full cache.
double least_training_bytes(const BenchShape& shape);
double least_translation_bytes(const BenchShape& shape);

struct BenchRuns {
    std::vector<double> seconds;                        // of each timed run, after one that is not timed
    std::int64_t source_tokens = 0, target_tokens = 0;  // of one run

    double median() const;  // seconds
};

// What is called when the run that is not timed is over.
using WarmedUp = std::function<void()>;

// One run is `steps` whole training steps: forward, backward, Adam.
BenchRuns bench_training(Backend& backend, const BenchShape& shape, int steps, int repeat, const WarmedUp& warmed_up);

// One run encodes the batch and writes target_length tokens for every sentence; none ends early.
BenchRuns bench_translation(Backend& backend, const BenchShape& shape, int repeat, const WarmedUp& warmed_up);

// The most memory this process ever had in RAM.
std::uint64_t peak_resident_bytes();

}  // namespace headscope

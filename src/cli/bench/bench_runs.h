// What `headscope bench` times, in this process, on random weights and tokens: speed depends on shapes alone.
#pragma once

#include <cstdint>
#include <memory>

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

// A model of random weights on a device, and what it does again and again.
class BenchWork {
public:
    BenchWork() = default;
    BenchWork(const BenchWork&) = delete;
    BenchWork& operator=(const BenchWork&) = delete;
    virtual ~BenchWork() = default;

    // What is not timed: it only fills the arena, starts the threads and records what can be replayed.
    virtual void warm_up() = 0;
    virtual void run() = 0;  // and waits
};

// One run is `steps` whole training steps: forward, backward, Adam.
std::unique_ptr<BenchWork> training_work(Backend& backend, const BenchShape& shape, int steps);

// One run encodes the batch and writes target_length tokens for every sentence; none ends early.
std::unique_ptr<BenchWork> translation_work(Backend& backend, const BenchShape& shape);

double seconds_of_run(BenchWork& work);

// The most memory this process ever had in RAM.
std::uint64_t peak_resident_bytes();

}  // namespace headscope

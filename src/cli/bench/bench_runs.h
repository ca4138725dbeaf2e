// The work that `headscope bench` times, on random weights and tokens: speed depends only on shapes, and with an
// adaptive softmax on how frequent the tokens are.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/precision.h"
#include "data/batch.h"
#include "model/config.h"

namespace headscope {

// How many pieces a masked language model predicts.
constexpr double kPredictedShare = 0.15;

struct BenchShape {
    ModelConfig model;
    std::int64_t sentences = 32;
    std::int64_t source_length = 32;  // including eos; without padding; of a prompt; 0 for training without a source
    std::int64_t target_length = 32;
    int beam = 1;          // generating only
    float dropout = 0.1F;  // training only
    Arithmetic arithmetic = {};
};

// Lower bounds of a run's memory, to report at once what can never fit. Training: the values, gradients and Adam's two
// moments, and what the forward pass keeps for the backward pass. Generation: the values, and the keys and values of a
// full cache.
double least_training_bytes(const BenchShape& shape);
double least_generation_bytes(const BenchShape& shape);

// What training_work() trains on.
Batch training_batch(const BenchShape& shape);

// A model with random weights on a device, and a repeatable run.
class BenchWork {
public:
    BenchWork() = default;
    BenchWork(const BenchWork&) = delete;
    BenchWork& operator=(const BenchWork&) = delete;
    virtual ~BenchWork() = default;

    // Not timed: fills the arena, starts the threads and records what can be replayed.
    virtual void warm_up() = 0;
    virtual void run() = 0;  // and waits for the device
};

// A run is `steps` whole training steps: forward, backward, Adam.
std::unique_ptr<BenchWork> training_work(Backend& backend, const BenchShape& shape, int steps);

// A run encodes the sources, or reads the prompts, and generates target_length tokens for each; none ends early.
std::unique_ptr<BenchWork> generation_work(Backend& backend, const BenchShape& shape);

double seconds_of_run(BenchWork& work);

// The peak resident memory of this process.
std::uint64_t peak_resident_bytes();

}  // namespace headscope

// Describes a training without starting it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "parallel/network.h"
#include "train/train_config.h"
#include "train/training_data.h"

namespace headscope {

struct DescribedTraining {
    // For the user: the model and its parameters by block, the number of steps, their memory, time and arithmetic, what
    // the training costs by the paper's estimate, and the files that would be written.
    std::string text;
    std::int64_t parameters = 0;
    double steps = 0.0;            // infinite if that depends on the data, like the next
    double steps_per_epoch = 0.0;  // infinite without data
    std::string limit = {};        // that ends it: "steps"
    double seconds_per_step = 0.0;
    std::optional<std::size_t> bytes = {};  // of the device's memory; empty: more than it has
    double flops_per_step = 0.0;
    std::optional<double> exchange_seconds = {};  // of a step on ranks with a known network
    double speed_up = 1.0;                        // over one device, then
};

// Ranks to train on, each with a device like the one measured.
struct RankedSteps {
    int ranks = 1;
    std::optional<Network> network = {};
};

// Of a training into the folder `output`. Without data steps have sentences of random pieces. Writes nothing.
DescribedTraining describe_training(Backend& backend, const TrainConfig& config, const TrainingData* data,
                                    const std::string& output, const std::optional<RankedSteps>& ranked = {});

}  // namespace headscope

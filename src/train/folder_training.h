// A training in its folder: from the newest checkpoint, if there is one, to the model.
#pragma once

#include <cstdint>
#include <string>

#include "train/run.h"
#include "train/run_config.h"
#include "train/run_folder.h"

namespace headscope {

struct FolderTraining {
    const RunConfig& given;
    const TrainConfig& config;  // `given`, parsed
    TrainingData data;
    std::string from = {};  // model directory with the first weights; "" for random ones
    bool resumed = false;   // from the newest checkpoint
    Purpose purpose = Purpose::Train;
};

struct TrainedFolder {
    RunEnd end = RunEnd::Finished;
    std::int64_t step = 0;
    double minutes = 0.0;  // Run::minutes()
    std::string ended_by;  // Run::ended_by(), with the options that set it
};

// Trains, saves the configuration, and writes model/ unless the run was stopped. To finish means only the last.
TrainedFolder train_in_folder(RunFolder& folder, Backend& backend, FolderTraining training, const RunHooks& hooks);

}  // namespace headscope

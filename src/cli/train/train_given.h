// The configuration that `headscope train` was given, or that it makes of two texts.
#pragma once

#include <cstdint>
#include <string>

#include "backend/backend.h"
#include "cli/train/train_run.h"
#include "train/run_config.h"
#include "train/run_folder.h"
#include "train/training_data.h"

namespace headscope {

// The configuration of the file, or of the run in `output`, with what the options change.
RunConfig given_config(const ConfigOptions& options, const std::string& output);
// That chosen for the two texts, with what the options change. What is held out of the texts goes into `folder`, which
// is the options' `output` or stands in for it.
RunConfig config_of_texts(const TrainOptions& options, const Backend& device, const std::string& folder,
                          const Say& say);

// What the training reads; `data` is empty where it is yet to be made of two texts.
RunInputs inputs_of(const TrainOptions& options, const DataConfig& data);

// For "auto": what the device's memory holds.
std::int64_t found_batch(Backend& backend, const TrainConfig& config, const TrainingData& data, const Say& say);
void set_batch(RunConfig& config, std::int64_t tokens);

}  // namespace headscope

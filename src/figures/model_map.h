// The loaded model as the paper's Figures 1 and 2 draw theirs, with its own shapes and parameter counts.
#pragma once

#include <cstdint>
#include <string>

#include "model/config.h"
#include "paint/sketch.h"

namespace headscope {

struct ModelMapOptions {
    int encoder_layer = 1;  // the layers that the stacks show, counted from 1
    int decoder_layer = 1;
    bool narrow = false;  // Figure 2 is below Figure 1, not beside it
    Look look = {};
};

// Marks of blocks have item = index in describe(config).blocks and, in a stack, layer.
Drawing draw_model_map(const ModelConfig& config, const ModelMapOptions& options);

// "1,792,000"
std::string with_thousands(std::int64_t number);

}  // namespace headscope

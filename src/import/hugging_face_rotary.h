// The keys of Hugging Face's decoders for rotary positions and for windows.
#pragma once

#include <cstdint>
#include <vector>

#include "import/problems.h"
#include "model/config.h"

namespace headscope {

// What decides about windows beside "sliding_window" and "layer_types".
struct WindowRules {
    std::int64_t window = 0;                // if there is no "sliding_window"
    std::vector<std::int32_t> layers = {};  // 1 for those with a window, 0 for others, if there is no "layer_types"
    bool used = true;
    bool all_alike = false;   // the family has no layers of different types
    bool turn_apart = false;  // layers with a window have rotary positions of their own
};
// The window of a decoder and the layers that have it. One as long as the longest text is none, unless its layers turn
// apart. After max_length and the layers.
void read_windows(const ForeignConfig& config, const WindowRules& rules, ModelConfig& net);

struct RotaryRules {
    double base = 10000.0;  // of a file without one
    bool partial = false;   // whether a share of the columns may turn
    double share = 1.0;     // which one, in a file that does not say
    const char* base_key = "rope_theta";
    const char* share_key = "partial_rotary_factor";
    double window_base = 0.0;  // of layers with a window, if they turn apart, in a file without one
};
// Rotary positions as transformers 5 writes them ("rope_parameters", the same for all layers) or as earlier ones did
// ("rope_theta" and "rope_scaling", whose kind is "rope_type" or "type"). A problem for a kind that is not known. After
// max_length, the width of the heads and the windows.
void read_rotary(const ForeignConfig& config, Problems& problems, const RotaryRules& rules, ModelConfig& net);

}  // namespace headscope

// The keys of Hugging Face's decoders for rotary positions and for windows.
#pragma once

#include <cstdint>
#include <vector>

#include "import/problems.h"
#include "model/config.h"

namespace headscope {

// What decides about windows beside "sliding_window" and "layer_types".
struct WindowDefaults {
    std::int64_t window = 0;                // if there is no "sliding_window"
    std::vector<std::int32_t> layers = {};  // 1 for those with a window, 0 for others, if there is no "layer_types"
    bool used = true;
};
// The window of a decoder and the layers that have it. One as long as the longest text is none. After max_length and
// the layers.
void read_windows(const ForeignConfig& config, const WindowDefaults& defaults, ModelConfig& net);

// Rotary positions as transformers 5 writes them ("rope_parameters", perhaps for each type of layer) or as earlier ones
// did ("rope_theta" and "rope_scaling", whose kind is "rope_type" or "type"). A problem for a kind that is not known.
// `base` is that of a file without one. After the width of the heads and read_windows().
void read_rotary(const ForeignConfig& config, Problems& problems, double base, ModelConfig& net);

}  // namespace headscope

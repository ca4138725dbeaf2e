// The table of the model's keys: one row for each member of a configuration.
#pragma once

#include <cstdint>

#include "io/config_fields.h"
#include "model/config.h"

namespace headscope {

const ConfigFields<ModelConfig>& model_fields();
// Those of pictures as input and of rotary positions, parts of the table.
ConfigFields<ModelConfig> picture_fields();
ConfigFields<ModelConfig> rotary_fields();

// What its parts have in common.
// The largest side of a matrix: products of two sides fit the 32-bit indices of shaders.
inline constexpr std::int64_t kMaxSide = 1 << 20;
inline constexpr std::int64_t kMaxLength = 1 << 20;
const Needs<ModelConfig>& needs_restricted();
const Needs<ModelConfig>& needs_all_to_attend();

}  // namespace headscope

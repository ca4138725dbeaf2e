// Base configurations of experiments: the paper's base model, and smaller ones of the same shape.
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

inline constexpr const char* kScales[] = {"tiny", "small", "base"};

// A training configuration for train.tsv and valid.tsv, post-norm as in the paper, without averaging. `scale`: index in
// kScales.
nlohmann::json scale_config(std::size_t scale);

}  // namespace headscope

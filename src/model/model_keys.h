// The names that the keys of a model had in versions 1 and 2 of the format.
#pragma once

#include <string>

namespace headscope {

// The name today of one key, with dots: "norm.epsilon" of "layer_norm_epsilon", and any other key unchanged. Error for
// a key of versions 1 and 2 that is a part of one of today.
std::string model_key_of_today(const std::string& key);

}  // namespace headscope

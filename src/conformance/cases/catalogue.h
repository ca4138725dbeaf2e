// Every case that a device is held to, by family.
#pragma once

#include <vector>

#include "conformance/family.h"

namespace headscope::conformance {

const std::vector<Family>& catalogue();

// One source file beside this one for each.
Family elementwise_family();
Family matmul_family();
Family linear_family();
Family bias_family();
Family layer_norm_family();
Family attention_family();
Family edit_attention_family();
Family embedding_family();
Family loss_family();
Family optimizer_family();
Family search_family();

}  // namespace headscope::conformance

// All cases that devices must pass, by family.
#pragma once

#include <vector>

#include "conformance/family.h"

namespace headscope::conformance {

const std::vector<Family>& catalogue();

// Each has a source file here.
Family elementwise_family();
Family matmul_family();
Family linear_family();
Family bias_family();
Family layer_norm_family();
Family batch_norm_family();
Family attention_family();
Family edit_attention_family();
Family additive_family();
Family embedding_family();
Family convolution_family();
Family experts_family();
Family loss_family();
Family optimizer_family();
Family recurrent_family();
Family search_family();

}  // namespace headscope::conformance

// All cases that devices must pass, by family.
#pragma once

#include <vector>

#include "conformance/family.h"

namespace headscope::conformance {

const std::vector<Family>& catalogue();

// Each has a source file here, and a namespace for its own names.
namespace elementwise_cases {
Family family();
}
namespace matmul_cases {
Family family();
}
namespace linear_cases {
Family family();
}
namespace bias_cases {
Family family();
}
namespace layer_norm_cases {
Family family();
}
namespace batch_norm_cases {
Family family();
}
namespace attention_cases {
Family family();
}
namespace edit_attention_cases {
Family family();
}
namespace additive_cases {
Family family();
}
namespace embedding_cases {
Family family();
}
namespace blocks_cases {
Family family();
}
namespace convolution_cases {
Family family();
}
namespace experts_cases {
Family family();
}
namespace loss_cases {
Family family();
}
namespace optimizer_cases {
Family family();
}
namespace recurrent_cases {
Family family();
}
namespace rotary_cases {
Family family();
}
namespace search_cases {
Family family();
}

}  // namespace headscope::conformance

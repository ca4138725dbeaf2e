#include "conformance/cases/catalogue.h"

namespace headscope::conformance {

const std::vector<Family>& catalogue() {
    static const std::vector<Family> kFamilies{
        elementwise_cases::family(), matmul_cases::family(),     linear_cases::family(),
        bias_cases::family(),        layer_norm_cases::family(), batch_norm_cases::family(),
        attention_cases::family(),   additive_cases::family(),   edit_attention_cases::family(),
        embedding_cases::family(),   blocks_cases::family(),     convolution_cases::family(),
        experts_cases::family(),     loss_cases::family(),       optimizer_cases::family(),
        recurrent_cases::family(),   rotary_cases::family(),     search_cases::family()};
    return kFamilies;
}

}  // namespace headscope::conformance

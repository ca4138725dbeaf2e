#include "conformance/cases/catalogue.h"

namespace headscope::conformance {

const std::vector<Family>& catalogue() {
    static const std::vector<Family> kFamilies{
        elementwise_family(),    matmul_family(),     linear_family(),      bias_family(),
        layer_norm_family(),     batch_norm_family(), attention_family(),   additive_family(),
        edit_attention_family(), embedding_family(),  convolution_family(), experts_family(),
        loss_family(),           optimizer_family(),  recurrent_family(),   search_family()};
    return kFamilies;
}

}  // namespace headscope::conformance

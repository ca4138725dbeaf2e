#include "model/flops.h"

#include "model/description.h"

namespace headscope {

double forward_flops(const ModelConfig& model, const WorkShape& shape) {
    return translation_flops(model, shape, 1);
}

double training_flops(const ModelConfig& model, const WorkShape& shape) {
    return 3.0 * forward_flops(model, shape);
}

double translation_flops(const ModelConfig& model, const WorkShape& shape, int beam) {
    constexpr double kMultiplyAdd = 2.0;
    const MultiplyAdds each = describe(model).multiply_adds;
    const auto source = static_cast<double>(shape.source_length);
    const auto target = static_cast<double>(shape.target_length);
    const double encode = source * each.source_token + source * source * each.source_pair;
    const double decode = target * each.target_token + target * (target + 1.0) / 2.0 * each.causal_pair +
                          target * source * each.cross_pair;
    return kMultiplyAdd * static_cast<double>(shape.sentences) * (encode + beam * decode);
}

}  // namespace headscope

#include "autograd/weight_product.h"

#include "backend/ops/blocks.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"

namespace headscope {

void multiply(Context& ctx, const WeightProduct& product) {
    const Var& weight = product.weight;
    if (!weight.is_in_blocks()) {
        ctx.backend.run(Matmul{.a = product.x,
                               .b = weight.value(),
                               .out = product.out,
                               .transpose_b = true,
                               .alpha = product.alpha,
                               .beta = product.beta,
                               .compute = ctx.compute,
                               .b_scales = weight.scales()});
        return;
    }
    const bool adds = product.beta != 0.0F;
    const Tensor y = adds ? ctx.backend.empty(product.out.shape, product.out.dtype) : product.out;
    ctx.backend.run(BlockLinear{
        .x = product.x, .codes = weight.value(), .scales = weight.scales(), .y = y, .alpha = product.alpha});
    if (adds) {
        ctx.backend.run(AddScaled{.a = y, .b = product.out, .out = product.out, .beta = product.beta});
    }
}

Tensor numbers_of(Backend& backend, const Var& weight) {
    if (!weight.is_in_blocks()) {
        return weight.value();
    }
    const std::int64_t rows = weight.shape()[0];
    const std::int64_t columns = weight.shape()[1];
    const Tensor numbers = backend.empty({1, rows, columns}, backend.full_dtype());
    backend.run(BlockEmbed{.codes = weight.value(), .scales = weight.scales(), .out = numbers});
    return numbers.reshape({rows, columns});
}

}  // namespace headscope

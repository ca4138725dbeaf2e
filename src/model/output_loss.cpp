#include "model/output_loss.h"

#include <algorithm>

#include "autograd/tape.h"
#include "autograd/weight_product.h"
#include "backend/ops/bias.h"
#include "backend/ops/loss.h"
#include "backend/ops/matmul.h"
#include "support/check.h"

namespace headscope {

namespace {

// An empty target if no gradient is needed.
GradientTarget target_of(const Var& to, Backend& backend) {
    return to.requires_grad() ? to.gradient_target(backend) : GradientTarget{};
}

}  // namespace

std::int64_t output_rows_at_once(const DeviceInfo& device, std::int64_t classes, DType dtype) {
    constexpr std::int64_t kLeastRows = 512;
    constexpr std::int64_t kBytes = std::int64_t{256} << 20;
    // Between the cards of 16 and of 24 GiB, whose drivers report somewhat less.
    constexpr std::uint64_t kLargeMemory = std::uint64_t{20} << 30;
    constexpr std::int64_t kLargeBytes = std::int64_t{1} << 30;
    constexpr std::int64_t kTileRows = 128;  // of products on tensor cores
    if (!device.gpu) {
        return kLeastRows;
    }
    const std::int64_t row_bytes = std::max<std::int64_t>(classes * static_cast<std::int64_t>(size_of(dtype)), 1);
    if (device.memory_bytes < kLargeMemory) {
        return std::max(kBytes / row_bytes, kLeastRows);
    }
    return std::max(kLargeBytes / row_bytes / kTileRows * kTileRows, kLeastRows);
}

LossSums output_loss(Context& ctx, const Var& hidden, const OutputLayerWeights& layer, const DeviceGather& predicted,
                     const LossOptions& options) {
    Backend& backend = ctx.backend;
    const std::int64_t rows = predicted.classes.elements();
    const std::int64_t classes = layer.weight.shape()[0];
    const std::int64_t width = layer.weight.shape()[1];
    HEADSCOPE_CHECK(options.chunk_rows >= 0, "chunk_rows must not be negative");
    const std::int64_t chunk_rows = options.chunk_rows > 0
                                        ? options.chunk_rows
                                        : output_rows_at_once(backend.device(), classes, hidden.value().dtype);
    const DType real = backend.full_dtype();
    const Tensor states = hidden.value().reshape({rows, width});
    const Tensor ids = predicted.classes.reshape({rows});
    const Tensor loss = backend.empty({rows, 1}, real);
    const Tensor nll = backend.empty({rows, 1}, real);
    const Tensor room = backend.empty({std::min(rows, chunk_rows), classes}, states.dtype);
    const bool backward = ctx.tape != nullptr;
    const GradientTarget to_hidden = backward ? target_of(hidden, backend) : GradientTarget{};
    HEADSCOPE_CHECK(!to_hidden.tensor.defined() || to_hidden.write == Write::Overwrite,
                    "the loss must be the first to write the gradient of the last hidden states");

    const Tensor weight = to_hidden.tensor.defined() ? numbers_of(backend, layer.weight) : Tensor();
    for (std::int64_t first = 0; first < rows; first += chunk_rows) {
        const std::int64_t size = std::min(chunk_rows, rows - first);
        const Tensor chunk = states.narrow(0, first, size);  // [size, width]
        const Tensor logits = room.narrow(0, 0, size);       // [size, classes], then their gradient
        multiply(ctx, {.x = chunk, .weight = layer.weight, .out = logits, .alpha = layer.scale});
        if (layer.bias.defined()) {
            const Tensor batch = logits.reshape({1, size, classes});
            backend.run(BiasActivation{.x = batch, .bias = layer.bias.value(), .y = batch});
        }
        backend.run(SmoothedCrossEntropy{
            .logits = logits,
            .targets = ids.narrow(0, first, size),
            .loss = loss.narrow(0, first, size).reshape({size}),
            .nll = nll.narrow(0, first, size).reshape({size}),
            .grad_logits = backward ? logits : Tensor(),
            .grad_scale = backward ? options.gradient_scale : Tensor(),
            .prior = options.prior,
            .weights = predicted.weights.defined() ? predicted.weights.narrow(0, first, size) : Tensor(),
            .epsilon = options.epsilon,
            .smoothing = options.smoothing});
        if (to_hidden.tensor.defined()) {
            backend.run(Matmul{.a = logits,
                               .b = weight,
                               .out = to_hidden.tensor.reshape({rows, width}).narrow(0, first, size),
                               .alpha = layer.scale,
                               .compute = ctx.compute});
        }
        if (backward && layer.weight.requires_grad()) {
            const GradientTarget to = layer.weight.gradient_target(backend);
            backend.run(Matmul{.a = logits,
                               .b = chunk,
                               .out = to.tensor,
                               .transpose_a = true,
                               .alpha = layer.scale,
                               .beta = to.write == Write::Overwrite ? 0.0F : 1.0F,
                               .compute = ctx.compute});
        }
        if (backward && layer.bias.requires_grad()) {
            const GradientTarget to = layer.bias.gradient_target(backend);
            backend.run(SumRows{.x = logits, .out = to.tensor, .write = to.write});
        }
    }
    if (backward) {
        // Nothing remains for the backward pass, but the tape must know that these gradients are written.
        ctx.tape->record("loss", {layer.weight, layer.bias}, [](Backend&) {});
    }
    LossSums sums{.loss = backend.empty({1}, real), .nll = backend.empty({1}, real), .row_nll = nll};
    backend.run(SumRows{.x = loss, .out = sums.loss});
    backend.run(SumRows{.x = nll, .out = sums.nll});
    return sums;
}

}  // namespace headscope

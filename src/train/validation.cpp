#include "train/validation.h"

#include "autograd/context.h"
#include "data/device_batch.h"

namespace headscope {

ValidationLoss validate(Backend& backend, const Transformer& model, const Batcher& batcher, const LossOptions& options,
                        Compute compute) {
    const Tensor sums = backend.empty({2}, backend.real());
    backend.run(Fill{.out = sums});
    ValidationLoss result;
    batcher.for_each_step(0, [&](const Batcher::Step& step) {
        const DeviceBatch batch = upload(backend, batcher.batch(step));
        Context context{.backend = backend, .compute = compute};
        const LossSums losses = model.loss(context, batch, options);
        backend.run(Copy{.x = losses.loss, .out = sums.narrow(0, 0, 1), .write = Write::Accumulate});
        backend.run(Copy{.x = losses.nll, .out = sums.narrow(0, 1, 1), .write = Write::Accumulate});
        result.target_tokens += batch.target_tokens;
    });
    const auto host = to_host<double>(backend, sums);
    result.loss = host[0] / static_cast<double>(result.target_tokens);
    result.nll = host[1] / static_cast<double>(result.target_tokens);
    return result;
}

}  // namespace headscope

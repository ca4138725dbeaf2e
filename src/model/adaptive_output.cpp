#include "model/adaptive_output.h"

#include <string>

#include <fmt/format.h>

#include "autograd/functions.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/loss.h"
#include "backend/ops/matmul.h"
#include "model/output_loss.h"
#include "support/check.h"

namespace headscope {

AdaptiveOutput::AdaptiveOutput(const ModelConfig& config, const Scope& scope, float scale)
    : vocabulary_(config.target_vocabulary), scale_(scale) {
    const std::vector<std::int32_t>& starts = config.output.adaptive.cutoffs;
    std::string sizes = fmt::format("{} \u2192 {}", config.d_model, fmt::group_digits(starts.front()));
    std::vector<std::int64_t> ids;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        ids.push_back((i + 1 < starts.size() ? starts[i + 1] : config.target_vocabulary) - starts[i]);
        sizes += fmt::format(" + {}", fmt::group_digits(ids.back()));
    }
    scope.block({.kind = BlockKind::Linear, .title = "Adaptive Linear", .detail = sizes});
    const std::int64_t classes = starts.front() + std::ssize(starts);
    head_ = scope.in("head").table(classes, config.d_model);
    scope.multiply_adds(&MultiplyAdds::predicted_token, classes * config.d_model);
    std::int64_t width = config.d_model;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        width /= config.output.adaptive.factor;
        const Scope cluster = scope.in(fmt::format("clusters.{}", i));
        clusters_.push_back({cluster.weight({{"project", width}}, config.d_model), cluster.table(ids[i], width)});
        scope.multiply_adds(&MultiplyAdds::predicted_token, ids[i] * width);
        scope.output_cluster(width * (config.d_model + ids[i]));
    }
}

Var AdaptiveOutput::logits(Context& ctx, const Var& hidden) const {
    HEADSCOPE_CHECK(ctx.tape == nullptr, "the logits of an adaptive output record no tape");
    Backend& backend = ctx.backend;
    const std::int64_t rows = hidden.shape()[0] * hidden.shape()[1];
    const auto matrix = [&](const Var& x) { return x.value().reshape({rows, x.shape()[2]}); };
    const Tensor head = matrix(linear(ctx, hidden, head_, scale_));
    const DType dtype = head.dtype;
    const Tensor all = backend.empty({rows, vocabulary_}, dtype);
    const std::int64_t frequent = head.dim(1) - std::ssize(clusters_);
    backend.run(Copy{.x = head.narrow(1, 0, frequent), .out = all.narrow(1, 0, frequent)});
    const Tensor first = backend.empty({rows}, DType::I32);
    backend.run(Fill{.out = first});
    std::int64_t begin = frequent;
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
        const Cluster& cluster = clusters_[i];
        const Tensor tail = matrix(linear(ctx, linear(ctx, hidden, cluster.project, scale_), cluster.weight));
        const std::int64_t ids = tail.dim(1);
        // What a row's logits lack: the cluster's logit in the head, less the log of the sum of their exponentials,
        // which is the nll of the first id plus its logit.
        const Tensor nll = backend.empty({rows}, backend.full_dtype());
        backend.run(SmoothedCrossEntropy{
            .logits = tail, .targets = first, .loss = backend.empty({rows}, backend.full_dtype()), .nll = nll});
        // All in F32: large numbers that nearly cancel.
        const Tensor sum = backend.empty({rows, 1}, backend.full_dtype());
        const Tensor first_logit = backend.empty({rows, 1}, backend.full_dtype());
        backend.run(Copy{.x = head.narrow(1, frequent + static_cast<std::int64_t>(i), 1), .out = sum});
        backend.run(Copy{.x = tail.narrow(1, 0, 1), .out = first_logit});
        backend.run(AddScaled{.a = sum, .b = first_logit, .out = sum, .beta = -1.0F});
        backend.run(AddScaled{.a = sum, .b = nll.reshape({rows, 1}), .out = sum, .beta = -1.0F});
        const Tensor lack = backend.empty({rows, 1}, dtype);
        backend.run(Copy{.x = sum, .out = lack});
        const Tensor ones = backend.empty({1, ids}, dtype);
        backend.run(Fill{.out = ones, .value = 1.0F});
        const Tensor out = all.narrow(1, begin, ids);
        backend.run(Copy{.x = tail, .out = out});
        backend.run(Matmul{.a = lack, .b = ones, .out = out, .beta = 1.0F});
        begin += ids;
    }
    return Var(all.reshape({hidden.shape()[0], hidden.shape()[1], vocabulary_}));
}

LossSums AdaptiveOutput::loss(Context& ctx, const Var& hidden, std::span<const DeviceGather> targets,
                              const LossOptions& options) const {
    HEADSCOPE_CHECK(targets.size() == 1 + clusters_.size(), "the batch has the clusters of another model");
    const LossSums sums = output_loss(ctx, hidden, {.weight = head_, .scale = scale_}, targets[0], options);
    const Var states = hidden.reshape({targets[0].classes.elements(), head_.shape()[1]});
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
        const DeviceGather& cluster = targets[i + 1];
        const Var rows = embed(ctx, {.ids = cluster.rows, .order = cluster.order, .table = states});
        const Var projected = linear(ctx, rows, clusters_[i].project, scale_);
        LossOptions of_cluster = options;
        of_cluster.epsilon = clusters_[i].weight.shape()[0] == 1 ? 0.0F : options.epsilon;  // nothing to share with
        const LossSums tail = output_loss(ctx, projected, {.weight = clusters_[i].weight}, cluster, of_cluster);
        ctx.backend.run(Copy{.x = tail.loss, .out = sums.loss, .write = Write::Accumulate});
        ctx.backend.run(Copy{.x = tail.nll, .out = sums.nll, .write = Write::Accumulate});
    }
    return sums;
}

}  // namespace headscope

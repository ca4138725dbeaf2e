#include "model/adaptive_output.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "autograd/functions.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/loss.h"
#include "backend/ops/matmul.h"
#include "backend/ops/search.h"
#include "model/output_loss.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

struct RankedClass {
    double log_probability;
    std::int32_t id;
};

bool is_likelier(const RankedClass& a, const RankedClass& b) {
    return a.log_probability != b.log_probability ? a.log_probability > b.log_probability : a.id < b.id;
}

// The `count` likeliest classes of each row of logits [.., .., classes], best first.
std::vector<std::vector<RankedClass>> ranked(Backend& backend, const Var& logits, std::int64_t count) {
    const std::int64_t rows = logits.shape()[0] * logits.shape()[1];
    const Tensor values = backend.empty({rows, count}, backend.full_dtype());
    const Tensor ids = backend.empty({rows, count}, DType::I32);
    backend.run(
        LogSoftmaxTopK{.logits = logits.value().reshape({rows, logits.shape()[2]}), .values = values, .indices = ids});
    const std::vector<double> found = to_host<double>(backend, values);
    const std::vector<std::int32_t> classes = to_host<std::int32_t>(backend, ids);
    std::vector<std::vector<RankedClass>> all(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < found.size(); ++i) {
        all[i / static_cast<std::size_t>(count)].push_back({std::isnan(found[i]) ? kImpossible : found[i], classes[i]});
    }
    return all;
}

// The likeliest words of one row that were found so far.
class BestWords {
public:
    explicit BestWords(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

    // Whether words of at most this probability could be among them.
    bool may_have(double log_probability) const {
        return words_.size() < most_ || log_probability > words_.back().log_probability;
    }
    void add(const RankedClass& word) {
        words_.insert(std::upper_bound(words_.begin(), words_.end(), word, is_likelier), word);
        words_.resize(std::min(words_.size(), most_), word);
    }
    const std::vector<RankedClass>& words() const { return words_; }

private:
    std::size_t most_;
    std::vector<RankedClass> words_;  // best first
};

// Those whose best words may be of a cluster with this probability in each row.
std::vector<std::int32_t> rows_that_may_have(const std::vector<BestWords>& best,
                                             const std::vector<double>& of_cluster) {
    std::vector<std::int32_t> rows;
    for (std::size_t row = 0; row < best.size(); ++row) {
        if (best[row].may_have(of_cluster[row])) {
            rows.push_back(static_cast<std::int32_t>(row));
        }
    }
    return rows;
}

// x [rows, columns]; result [1, chosen, columns].
Var chosen_rows(Backend& backend, const Tensor& x, const std::vector<std::int32_t>& chosen) {
    const Tensor index = make_from_host(backend, {std::ssize(chosen)}, DType::I32, chosen);
    const Tensor out = backend.empty({std::ssize(chosen), x.dim(1)}, x.dtype);
    backend.run(GatherRows{.x = x, .index = index, .out = out});
    return Var(out.reshape({1, out.dim(0), out.dim(1)}));
}

void write(Backend& backend, const std::vector<BestWords>& rows, const Tensor& log_probabilities,
           const Tensor& tokens) {
    std::vector<double> values;
    std::vector<std::int32_t> ids;
    for (const BestWords& row : rows) {
        for (const RankedClass& word : row.words()) {
            values.push_back(word.log_probability);
            ids.push_back(word.id);
        }
    }
    from_host(backend, log_probabilities, values);
    from_host(backend, tokens, ids);
}

}  // namespace

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

Var AdaptiveOutput::cluster_logits(Context& ctx, const Cluster& cluster, const Var& hidden) const {
    return linear(ctx, linear(ctx, hidden, cluster.project, scale_), cluster.weight);
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
        const Tensor tail = matrix(cluster_logits(ctx, cluster, hidden));
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

std::int64_t AdaptiveOutput::most_ranked() const {
    return LogSoftmaxTopK::kMaxK - std::ssize(clusters_);
}

std::int64_t AdaptiveOutput::likeliest(Context& ctx, const Var& hidden, const Tensor& log_probabilities,
                                       const Tensor& tokens) const {
    const std::int64_t k = tokens.dim(1);
    HEADSCOPE_CHECK(ctx.tape == nullptr && k <= most_ranked(), "words of an adaptive output that cannot be ranked");
    Backend& backend = ctx.backend;
    const Tensor states = hidden.value().reshape({tokens.dim(0), hidden.shape()[2]});
    const std::int64_t classes = head_.shape()[0];
    const std::int64_t frequent = classes - std::ssize(clusters_);
    std::vector<BestWords> best(static_cast<std::size_t>(states.dim(0)), BestWords(k));
    // The head's k + clusters likeliest classes have the k likeliest words, and all clusters that are as likely.
    std::vector<std::vector<double>> of_cluster(clusters_.size(), std::vector<double>(best.size(), kImpossible));
    const auto of_head =
        ranked(backend, linear(ctx, hidden, head_, scale_), std::min(k + std::ssize(clusters_), classes));
    for (std::size_t row = 0; row < best.size(); ++row) {
        for (const RankedClass& one : of_head[row]) {
            if (one.id < frequent) {
                best[row].add(one);
            } else {
                of_cluster[static_cast<std::size_t>(one.id - frequent)][row] = one.log_probability;
            }
        }
    }
    std::int64_t evaluated = 0;
    auto first = static_cast<std::int32_t>(frequent);
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
        const std::vector<std::int32_t> needed = rows_that_may_have(best, of_cluster[i]);
        const std::int64_t ids = clusters_[i].weight.shape()[0];
        if (!needed.empty()) {
            const Var logits = cluster_logits(ctx, clusters_[i], chosen_rows(backend, states, needed));
            const auto words = ranked(backend, logits, std::min(k, ids));
            for (std::size_t at = 0; at < needed.size(); ++at) {
                const auto row = static_cast<std::size_t>(needed[at]);
                for (const RankedClass& word : words[at]) {
                    best[row].add({of_cluster[i][row] + word.log_probability, first + word.id});
                }
            }
        }
        evaluated += std::ssize(needed);
        first += static_cast<std::int32_t>(ids);
    }
    write(backend, best, log_probabilities, tokens);
    return evaluated;
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

#include "explore/forced_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "observe/record_attention.h"

namespace headscope {

namespace {

// Ranks the logits of one position on the host in double, in the order of LogSoftmaxTopK. False if the logits or the
// token's own logit are not finite.
bool explain(std::span<const double> logits, std::int32_t token, int candidates, ExploredStep& step) {
    double most = -std::numeric_limits<double>::infinity();
    for (const double logit : logits) {
        most = logit > most ? logit : most;  // skips NaN
    }
    double sum = 0.0;
    for (const double logit : logits) {
        sum += std::isnan(logit) ? 0.0 : std::exp(logit - most);
    }
    const double own = logits[static_cast<std::size_t>(token)];
    if (!std::isfinite(most) || !std::isfinite(own)) {
        return false;
    }
    const double log_sum = most + std::log(sum);
    step.token = token;
    step.log_probability = own - log_sum;
    step.rank = 1;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const bool before = logits[i] > own || (logits[i] == own && i < static_cast<std::size_t>(token));
        step.rank += before ? 1 : 0;
    }
    std::vector<std::int32_t> order;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (!std::isnan(logits[i])) {
            order.push_back(static_cast<std::int32_t>(i));
        }
    }
    const std::size_t kept = std::min(order.size(), static_cast<std::size_t>(candidates));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                      [&](std::int32_t a, std::int32_t b) {
                          const double of_a = logits[static_cast<std::size_t>(a)];
                          const double of_b = logits[static_cast<std::size_t>(b)];
                          return of_a != of_b ? of_a > of_b : a < b;
                      });
    for (std::size_t i = 0; i < kept; ++i) {
        step.candidates.push_back({order[i], "", logits[static_cast<std::size_t>(order[i])] - log_sum});
    }
    return true;
}

}  // namespace

SourceMemory read_source(Context& ctx, const EncoderDecoder& model, const RecordedText& source, std::int64_t pads) {
    const std::vector<std::int32_t> ids = source_ids(model.config(), source);
    const auto length = static_cast<std::int64_t>(ids.size());
    SourceMemory memory;
    memory.lengths = make_from_host<std::int32_t>(ctx.backend, {1}, DType::I32, {static_cast<std::int32_t>(length)});
    memory.states = model.encode(ctx, upload_padded(ctx.backend, model.config(), ids, length + pads), memory.lengths);
    return memory;
}

Var read_target(Context& ctx, const EncoderDecoder& model, const RecordedText& target, const SourceMemory& memory) {
    const Tensor in = upload_padded(ctx.backend, model.config(), target_in_ids(model.config(), target), 0);
    return model.decode(ctx, in, memory.states, memory.lengths);
}

std::vector<std::int32_t> written_ids(const ModelConfig& config, const RecordedText& target) {
    std::vector<std::int32_t> ids = target.ids;
    if (target.ended) {
        ids.push_back(config.eos_id);
    }
    return ids;
}

std::vector<ExploredStep> forced_steps(Context& ctx, const EncoderDecoder& model, const Var& hidden,
                                       const std::vector<std::int32_t>& written, int candidates) {
    constexpr std::int64_t kRows = 64;  // of logits computed at a time, to bound memory
    const std::int64_t vocabulary = model.config().target_vocabulary;
    const std::int64_t d_model = model.config().d_model;
    const auto count = static_cast<std::int64_t>(written.size());
    const Var rows = hidden.reshape({hidden.shape()[1], d_model});
    std::vector<ExploredStep> steps;
    for (std::int64_t first = 0; first < count; first += kRows) {
        const std::int64_t some = std::min(kRows, count - first);
        const Var logits = model.logits(ctx, rows.narrow(0, first, some).reshape({1, some, d_model}));
        const auto values = to_host<double>(ctx.backend, logits.value());  // [1, some, vocabulary]
        for (std::int64_t row = 0; row < some; ++row) {
            const std::span<const double> own(values.data() + row * vocabulary, static_cast<std::size_t>(vocabulary));
            ExploredStep step;
            if (!explain(own, written[static_cast<std::size_t>(first + row)], candidates, step)) {
                return steps;
            }
            steps.push_back(std::move(step));
        }
    }
    return steps;
}

}  // namespace headscope

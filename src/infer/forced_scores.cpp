#include "infer/forced_scores.h"

#include <algorithm>
#include <span>

#include "data/batch.h"
#include "infer/next_tokens.h"
#include "model/frame_of_config.h"
#include "support/check.h"

namespace headscope {

std::vector<double> next_log_probabilities(Context& ctx, const EncoderDecoder& model,
                                           const std::vector<std::int32_t>& source,
                                           const std::vector<std::int32_t>& prefix) {
    HEADSCOPE_CHECK(!source.empty(), "the source is empty");
    Backend& backend = ctx.backend;
    const ModelConfig& config = model.config();
    std::vector<std::int32_t> padded = source;
    const Padding padding{.longest = config.max_length};
    padded.resize(static_cast<std::size_t>(padding.of(static_cast<std::int64_t>(source.size()))), padding_id(config));
    std::vector<std::int32_t> written(prefix.size() + 1, config.frame.bos_id);
    std::copy(prefix.begin(), prefix.end(), written.begin() + 1);
    const auto length = static_cast<std::int64_t>(written.size());

    const Tensor lengths =
        make_from_host<std::int32_t>(backend, {1}, DType::I32, {static_cast<std::int32_t>(source.size())});
    const Shape row{1, static_cast<std::int64_t>(padded.size())};
    const Memory memory{
        model.encode(ctx, {.ids = make_from_host(backend, row, DType::I32, padded), .lengths = lengths}),
        lengths};  // [1, padded, d_model]
    const Var hidden = model.decode(ctx, {.ids = make_from_host(backend, {1, length}, DType::I32, written)},
                                    memory);  // [1, length, d_model]
    const Var last = hidden.reshape({length, config.d_model}).narrow(0, length - 1, 1).reshape({1, 1, config.d_model});
    auto scores =
        to_host<double>(backend, model.logits(ctx, last).value().reshape({config.target_vocabulary}));  // [vocabulary]

    // In double on the host, so that only the device's own rounding remains.
    log_softmax(std::span<double>(scores));
    return scores;
}

}  // namespace headscope

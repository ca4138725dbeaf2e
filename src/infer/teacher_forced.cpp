#include "infer/teacher_forced.h"

#include <algorithm>

#include "data/batch.h"
#include "data/device_batch.h"
#include "infer/translator.h"
#include "support/check.h"

namespace headscope {

namespace {

// Of each target position, pads too: rows = sentences * target_length.
struct ForcedPositions {
    Tensor losses;  // -log P of the target's token, [rows]
    Tensor best;    // log P of the likeliest token, [rows, 1]
    Tensor tokens;  // which that is, I32 [rows, 1]
};

// The logits exist for a few rows at a time.
ForcedPositions look_at_positions(Context& ctx, const Transformer& model, const DeviceBatch& batch,
                                  std::int64_t logit_rows) {
    Backend& backend = ctx.backend;
    const std::int64_t d_model = model.config().d_model;
    const std::int64_t classes = model.config().target_vocabulary;
    const Var memory = model.encode(ctx, batch.source, batch.source_lengths);
    const Var hidden = model.decode(ctx, batch.target_in, memory, batch.source_lengths);
    const std::int64_t rows = batch.sentences * batch.target_length;
    const Var states = hidden.reshape({rows, d_model});
    const Tensor targets = batch.target_out.reshape({rows});
    const ForcedPositions found{backend.empty({rows}, backend.real()), backend.empty({rows, 1}, backend.real()),
                                backend.empty({rows, 1}, DType::I32)};
    for (std::int64_t first = 0; first < rows; first += logit_rows) {
        const std::int64_t some = std::min(logit_rows, rows - first);
        const Var chunk = states.narrow(0, first, some).reshape({1, some, d_model});
        const Tensor logits = model.logits(ctx, chunk).value().reshape({some, classes});
        const Tensor losses = found.losses.narrow(0, first, some);
        backend.run(SmoothedCrossEntropy{.logits = logits,
                                         .targets = targets.narrow(0, first, some),
                                         .loss = backend.empty({some}, backend.real()),
                                         .nll = losses});
        backend.run(LogSoftmaxTopK{.logits = logits,
                                   .values = found.best.narrow(0, first, some),
                                   .indices = found.tokens.narrow(0, first, some)});
    }
    return found;
}

// One vector for each sentence of the batch, without its pads.
std::vector<std::vector<ForcedToken>> read(Backend& backend, const ForcedPositions& found, const Batch& batch) {
    const auto losses = to_host<double>(backend, found.losses);
    const auto best = to_host<double>(backend, found.best);
    const auto tokens = to_host<std::int32_t>(backend, found.tokens);
    std::vector<std::vector<ForcedToken>> sentences(static_cast<std::size_t>(batch.sentences));
    for (std::size_t sentence = 0; sentence < sentences.size(); ++sentence) {
        const std::size_t first = sentence * static_cast<std::size_t>(batch.target_length);
        const std::size_t length = static_cast<std::size_t>(batch.target_lengths[sentence]);
        for (std::size_t row = first; row < first + length; ++row) {
            sentences[sentence].push_back({-losses[row], best[row], tokens[row] == batch.target_out[row]});
        }
    }
    return sentences;
}

}  // namespace

std::vector<std::vector<ForcedToken>> force_targets(Context& ctx, const Transformer& model, std::span<const Pair> pairs,
                                                    const ForcedLimits& limits) {
    const ModelConfig& config = model.config();
    HEADSCOPE_CHECK(limits.logit_rows > 0, "logits come in rows");
    std::vector<std::int64_t> lengths;
    for (const Pair& pair : pairs) {
        lengths.push_back(static_cast<std::int64_t>(std::max(pair.source.size(), pair.target.size())) + 1);
        HEADSCOPE_CHECK(lengths.back() <= config.max_length, "a pair is longer than the model takes");
    }
    const SpecialIds ids{.pad = config.pad_id, .bos = config.bos_id, .eos = config.eos_id, .unk = config.unk_id};
    std::vector<std::vector<ForcedToken>> results(pairs.size());
    for (const std::vector<std::size_t>& members : batches_by_length(lengths, limits.batch_tokens)) {
        std::vector<const Pair*> some;
        some.reserve(members.size());
        for (const std::size_t member : members) {
            some.push_back(&pairs[member]);
        }
        const Batch batch = make_batch(some, ids, 0, {.longest = config.max_length});
        const DeviceBatch on_device = upload(ctx.backend, batch);
        const ForcedPositions found = look_at_positions(ctx, model, on_device, limits.logit_rows);
        auto tokens = read(ctx.backend, found, batch);
        for (std::size_t i = 0; i < members.size(); ++i) {
            results[members[i]] = std::move(tokens[i]);
        }
    }
    return results;
}

}  // namespace headscope

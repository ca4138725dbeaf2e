// The whole encoder-decoder of section 3. Written once: training records a tape, inference does not, decoding caches.
#pragma once

#include <memory>
#include <vector>

#include "autograd/context.h"
#include "data/device_batch.h"
#include "model/config.h"
#include "model/parameters.h"

namespace headscope {

struct LossOptions {
    float epsilon = 0.1F;
    Smoothing smoothing = Smoothing::AllClasses;
    std::int64_t chunk_rows = 0;  // rows of logits computed at a time; 0: chosen for the device
    Tensor gradient_scale = {};   // [1] on the device, see SmoothedCrossEntropy; undefined: 1
};

// Sums over the target tokens of a batch, on the device, [1] each and of the backend's real(): add them up over
// micro-batches, divide once.
struct LossSums {
    Tensor loss;  // smoothed
    Tensor nll;   // unsmoothed
};

// Keys and values of the tokens decoded so far, and of the source. Rows are sentences times beam.
struct DecoderCache {
    struct Layer {
        Tensor self_keys, self_values;    // [rows, heads, capacity, d_k | d_v], views of `kept`
        Tensor self_both;                 // [rows, 2 heads, capacity, d_k], keys first; undefined unless d_k = d_v
        Tensor cross_keys, cross_values;  // [sources, heads, source_length, d_k | d_v], contiguous for each head
    };
    std::vector<Layer> layers;
    // All layers in one tensor, so that a beam reorders them in one op: [rows, layers * 2 heads, capacity, d_k], the
    // keys of each layer before its values, so that both are appended in one op. If d_k is not d_v there are two
    // tensors of layers * heads. Past the cached tokens it is 0 up to the next multiple of 8, and uninitialised behind
    // that.
    std::vector<Tensor> kept;
    Tensor source_lengths;  // I32 [sources]; the rows of a source are adjacent, and each source has the same number
    Tensor position;        // I32 [1] on the device: the number of cached tokens
    std::int64_t rows = 0;
    std::int64_t length = 0;    // the same on the host
    std::int64_t capacity = 0;  // multiple of 8; grows by doubling, reorder() reduces it to what it needs
};

class Transformer {
public:
    Transformer(const ModelConfig& config, const Parameters& parameters);
    ~Transformer();

    const ModelConfig& config() const;
    // Allocates what sequences of up to `length` read beside the parameters. A body that a backend may replay keeps
    // nothing that it allocates, so this comes before it.
    void prepare(Backend& backend, std::int64_t length) const;

    // ids I32 [batch, length], lengths I32 [batch]; out [batch, length, d_model]. 3.1. `order` sorts the positions by
    // id (EmbedBackward); it is needed only with a tape.
    Var encode(Context& ctx, const Tensor& ids, const Tensor& lengths, const Tensor& order = {}) const;
    // Teacher-forced: target_in I32 [batch, length] starts with bos; out [batch, length, d_model].
    Var decode(Context& ctx, const Tensor& target_in, const Var& memory, const Tensor& source_lengths,
               const Tensor& order = {}) const;
    // hidden [batch, length, d_model]; out [batch, length, vocabulary]. 3.4. For few rows; training uses loss().
    Var logits(Context& ctx, const Var& hidden) const;

    // Projection, smoothed loss and, with a tape, the gradient of the sum of the losses back to hidden states and
    // weights.
    LossSums project_and_lose(Context& ctx, const Var& hidden, const Tensor& target_out,
                              const LossOptions& options) const;
    // encode, decode, project_and_lose; with a tape also backward, which adds to the gradients of the parameters.
    LossSums loss(Context& ctx, const DeviceBatch& batch, const LossOptions& options) const;

    // Cached decoding, no tape. memory [rows, source_length, d_model].
    DecoderCache start_cache(Context& ctx, const Tensor& memory, const Tensor& source_lengths,
                             std::int64_t capacity) const;
    // ids I32 [rows, 1], the newest token of each row; out logits [rows, vocabulary]. Equal to the uncached pass. An
    // observer gets weights [rows, heads, 1, cached + 1] and [rows, heads, 1, source_length].
    Tensor step(Context& ctx, DecoderCache& cache, const Tensor& ids) const;
    // Writes the best tokens of each row: log-probabilities [rows, k] and tokens I32 [rows, k], see LogSoftmaxTopK.
    void step_top_k(Context& ctx, DecoderCache& cache, const Tensor& ids, const Tensor& log_probabilities,
                    const Tensor& tokens) const;
    // Reorders the cache by the beam's back-pointers, rows I32 [new rows]. `sources` I32 [new sources] selects the
    // sources that remain; row i then reads source i / (new rows / new sources). Undefined: all sources remain. So a
    // beam shares one copy of a sentence's keys and values and moves it only when a sentence is finished. With an
    // observer each row needs its own source.
    DecoderCache reorder(Context& ctx, const DecoderCache& cache, const Tensor& rows, const Tensor& sources) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace headscope

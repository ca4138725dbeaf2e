// Models that write token by token, with a cache: what search and sampling need. No tape.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "model/cache.h"
#include "model/model.h"

namespace headscope {

class Generator : public Model {
public:
    // An empty cache for each sentence of `batch`, of which only the source is read, if the model has one.
    virtual Cache start(Context& ctx, const DeviceBatch& batch) const = 0;

    // ids I32 [rows, 1], the newest token of each row; out logits [rows, vocabulary]. Equal to the uncached pass. An
    // observer gets weights [rows, heads, 1, cached + 1] and [rows, heads, 1, source_length].
    Tensor step(Context& ctx, Cache& cache, const Tensor& ids) const;
    // Writes the best tokens of each row: log-probabilities [rows, k] and tokens I32 [rows, k], see LogSoftmaxTopK. If
    // `kept` is a tensor [rows, vocabulary], it gets the logits.
    void step_top_k(Context& ctx, Cache& cache, const Tensor& ids, const Tensor& log_probabilities,
                    const Tensor& tokens, const Tensor& kept = {}) const;
    // Caches known tokens without looking at what could follow them: ids I32 [rows, tokens].
    void read(Context& ctx, Cache& cache, const Tensor& ids) const;

protected:
    using Model::Model;

private:
    Dependencies dependencies_of_step(const Context& ctx, const Cache& cache,
                                      std::initializer_list<Tensor> operands) const;
};

// Error for a translator that fills in masks (MaskPredict).
void require_left_to_right(const ModelConfig& config);
// Error if the model does not write from left to right.
const Generator& as_generator(const Model& model);

}  // namespace headscope

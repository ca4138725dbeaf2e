// 3.4 and 3.5: turns tokens and their positions into vectors.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/residual.h"
#include "model/sinusoids.h"

namespace headscope {

// 3.4: a matrix of embeddings. Source, target and output may share one.
struct EmbeddingTable {
    EmbeddingTable(const ModelConfig& config, const Scope& declared, const char* title, std::int64_t vocabulary);
    // The same matrix in another place of the model.
    EmbeddingTable(const ModelConfig& config, const char* title, const EmbeddingTable& shared);

    Scope scope;  // where it is declared
    Var weight;   // [vocabulary, d_model]
    std::int64_t vocabulary = 0;
};

class Embedding {
public:
    // The stacks of a model share the sinusoids. Those grow with use.
    Embedding(const ModelConfig& config, const Scope& stack, Var table, std::shared_ptr<Sinusoids> sinusoids,
              DropoutSites& sites);

    // ids I32 [batch, length]; result [batch, length, d_model]. `order` as in EmbedOperands.
    Var operator()(Context& ctx, const Tensor& ids, const Tensor& order) const;
    DType dtype(Backend& backend) const;  // of the result
    // The same for tokens from position `first` I32 [1] on, whose value the host knows as `first_on_host`.
    Var at(Context& ctx, const Tensor& ids, const Tensor& first, std::int64_t first_on_host) const;

private:
    Var run(Context& ctx, EmbedOperands operands, std::int64_t end) const;

    std::string stack_;
    Var table_;  // [vocabulary, d_model]
    std::optional<LayerNorm> norm_;
    Var positions_;  // [max_length, d_model], learned; undefined for sinusoids
    std::shared_ptr<Sinusoids> sinusoids_;
    float scale_;
    std::uint32_t site_;
};

}  // namespace headscope

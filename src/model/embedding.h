// 3.4 and 3.5: turns tokens and their positions into vectors.
#pragma once

#include <memory>
#include <string>

#include "model/residual.h"
#include "model/sinusoids.h"

namespace headscope {

// 3.4: the embeddings of source and target, which may be one matrix.
struct EmbeddingTables {
    EmbeddingTables(const ModelConfig& config, const Scope& model);
    Var source, target;  // [vocabulary, d_model]
    Scope target_scope;  // where the target's is declared
};

class Embedding {
public:
    // `stack` is the encoder or the decoder, which share the sinusoids. Those grow with use.
    Embedding(const ModelConfig& config, const Scope& stack, Var table, std::shared_ptr<Sinusoids> sinusoids,
              DropoutSites& sites);

    // ids I32 [batch, length]; result [batch, length, d_model]. `order` as in EmbedOperands.
    Var operator()(Context& ctx, const Tensor& ids, const Tensor& order) const;
    // The same for tokens from position `first` I32 [1] on, whose value the host knows as `first_on_host`.
    Var at(Context& ctx, const Tensor& ids, const Tensor& first, std::int64_t first_on_host) const;

private:
    Var run(Context& ctx, EmbedOperands operands, std::int64_t end) const;

    std::string stack_;
    Var table_;      // [vocabulary, d_model]
    Var positions_;  // [max_length, d_model], learned; undefined for sinusoids
    std::shared_ptr<Sinusoids> sinusoids_;
    float scale_;
    std::uint32_t site_;
};

}  // namespace headscope

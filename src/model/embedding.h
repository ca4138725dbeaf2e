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

// What a stack reads.
struct Tokens {
    Tensor ids;              // I32 [batch, length]
    Tensor order = {};       // EmbedBackward::order of `ids`; needed only with a tape
    Tensor types = {};       // I32 [batch, length], or [1, length] for all; undefined: all 0
    Tensor type_order = {};  // EmbedBackward::order of `types`; needed only with a tape, by a model with token types
};

class Embedding {
public:
    // The stacks of a model share the sinusoids. Those grow with use.
    Embedding(const ModelConfig& config, const Scope& stack, Var table, std::shared_ptr<Sinusoids> sinusoids,
              DropoutSites& sites);

    // Result [batch, length, d_model].
    Var operator()(Context& ctx, const Tokens& tokens) const;
    DType dtype(Backend& backend) const;  // of the result
    // The same for tokens from position `first` I32 [1] on, whose value the host knows as `first_on_host`.
    Var at(Context& ctx, const Tensor& ids, const Tensor& first, std::int64_t first_on_host) const;

private:
    Var run(Context& ctx, const Tokens& tokens, const Tensor& first, std::int64_t end) const;
    // What is added to the embeddings of tokens: [rows, d_model], undefined if it is nothing. Positions, or with token
    // types [1 or batch, length] of them the sum of both.
    Var added(Context& ctx, const Tokens& tokens, std::int64_t end) const;

    std::string stack_;
    Var table_;  // [vocabulary, d_model]
    std::optional<LayerNorm> norm_;
    Var positions_;                         // [max_length, d_model]; undefined unless they are learned
    Var types_;                             // [token_types, d_model]; undefined without token types
    std::shared_ptr<Sinusoids> sinusoids_;  // null if the model has none
    float scale_;
    std::uint32_t site_;
};

}  // namespace headscope

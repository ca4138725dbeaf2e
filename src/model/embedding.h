// 3.4 and 3.5: turns tokens and their positions into vectors.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "data/device_batch.h"
#include "model/residual.h"
#include "model/sinusoids.h"

namespace headscope {

// 3.4: a matrix of embeddings. Source, target and output may share one.
struct EmbeddingTable {
    EmbeddingTable(const ModelConfig& config, const Scope& declared, const char* title, std::int64_t vocabulary);
    // None: the stack reads pictures.
    explicit EmbeddingTable(const Scope& nowhere) : scope(nowhere) {}
    // The same matrix in another place of the model.
    EmbeddingTable(const ModelConfig& config, const char* title, const EmbeddingTable& shared);

    Scope scope;  // where it is declared
    Var weight;   // [vocabulary, embedding_columns()]
    std::int64_t vocabulary = 0;
};

class Embedding {
public:
    // Of the stack with this self-attention. The stacks of a model share the sinusoids. Those grow with use. A stack
    // that reads whole texts knows their lengths, one that writes them does not. One that reads pictures needs no
    // table.
    Embedding(const ModelConfig& config, const Scope& stack, AttentionKind self, Var table,
              std::shared_ptr<Sinusoids> sinusoids, DropoutSites& sites);

    // Result [batch, length, d_model].
    Var operator()(Context& ctx, const DeviceTokens& tokens) const;
    DType dtype(Backend& backend) const;  // of the result
    // Embeds tokens at positions first, first + 1, ... `first` is I32 [1]; `first_on_host` is the same number for the
    // host.
    Var at(Context& ctx, const Tensor& ids, const Tensor& first, std::int64_t first_on_host) const;
    // Embeds one token of each row at its own position: ids I32 [batch, 1], places I32 [batch], all before `end`.
    Var each_at(Context& ctx, const Tensor& ids, const Tensor& places, std::int64_t end) const;

private:
    // Where tokens are: at first, first + 1, .., or each at its own of `places`. Undefined: from 0 on.
    struct Place {
        Tensor first = {};
        Tensor places = {};
    };
    Var run(Context& ctx, const DeviceTokens& tokens, const Place& place, std::int64_t end) const;
    // Those of tokens up to `end`: [rows, columns], with a row for each position, or by_length_ for each token;
    // undefined if there are none.
    Var positions(Context& ctx, const DeviceTokens& tokens, std::int64_t end) const;
    // The sum of both, of all token types or [1 or batch, length] of them: [rows, embedding_columns()].
    Var with_types(Context& ctx, const DeviceTokens& tokens, const Var& positions, std::int64_t end) const;
    // Patches of pictures, [batch, length, values], as [batch, length, embedding_columns()], without a bias.
    Var of_patches(Context& ctx, const Tensor& patches) const;
    std::string stack_;
    Var table_;  // [vocabulary, embedding_columns()]; of pictures their projection, [.., values of a patch]
    bool pictures_;
    std::optional<LayerNorm> norm_;
    bool norm_first_;  // before positions are added
    Var positions_;    // [max_length, columns]; undefined unless they are learned
    // [token_types, embedding_columns()], of pictures the class token, if there is one, and the bias of the projection;
    // undefined without token types
    Var types_;
    std::shared_ptr<Sinusoids> sinusoids_;  // null if the model has no fixed positions
    bool by_length_;                        // positions are normalised by each text's own length
    std::int64_t position_columns_;         // 0: they are added
    float scale_;
    std::uint32_t site_;
};

}  // namespace headscope

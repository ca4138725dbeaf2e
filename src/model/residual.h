// 3.1: the residual connections around the sub-layers of a stack, and where its layer norms are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autograd/functions.h"
#include "model/config.h"
#include "model/scope.h"

namespace headscope {

// Numbers the dropouts of a model: each has its own site (DropoutRule::site) and so its own random numbers.
class DropoutSites {
public:
    std::uint32_t next() { return next_++; }

private:
    std::uint32_t next_ = 0;
};

// What flows between sub-layers. Where their inputs are normalised (NormConfig::of_inputs), the sum is carried on and
// its norm is read. Otherwise both are the same.
struct Stream {
    Var residual;         // [batch, length, d_model], what the next sub-layer's output is added to
    Var normed;           // [batch, length, d_model], what the next sub-layer reads
    Tensor lengths = {};  // I32 [batch]: what lies behind is padding; undefined without padding, and in decoding
    // Of two parallel sub-layers, the output of the first, which is added with that of the second; else undefined.
    Var waiting = {};
};

// Layer norm, RMS norm, batch norm, or none. A batch norm measures its statistics in training passes, those with
// dropout (Regularisation::step), and then has moved the running ones, which all other passes use.
class LayerNorm {
public:
    LayerNorm(const ModelConfig& config, const Scope& scope);
    // `lengths` I32 [batch], undefined without padding, is for batch norm.
    Normed operator()(Context& ctx, const Var& x, const Var& residual, const DropoutRule& rule,
                      const Tensor& lengths) const;

private:
    Var gain_, bias_;
    Tensor running_mean_, running_variance_;  // of batch norm
    float epsilon_;
    NormType type_;
};

// LayerNorm(x + Dropout(Sublayer(x))) with post-norm. With pre-norm x + Dropout(Sublayer(LayerNorm(x))): the addition
// of a sub-layer and the norm that the next one starts with are one op; after the last sub-layer it is the stack's own
// norm. A norm of outputs comes before the addition.
class Residuals {
public:
    explicit Residuals(const ModelConfig& config) : config_(config) {}
    // Called by the stack's constructor, after each sub-layer and after the last.
    void add_sublayer(const Scope& scope, DropoutSites& sites);
    void end(const Scope& stack);

    // The input of the first sub-layer: the embeddings, normalised with pre-norm. Consumes `embedded`: its memory is
    // reused.
    Stream start(Context& ctx, const Var& embedded, const Tensor& lengths) const;
    // Adds the output of sub-layer `index`, which read stream.normed. Consumes `output`: its memory is reused.
    Stream after(Context& ctx, std::size_t index, const Stream& stream, const Var& output) const;
    // The norm after the last sub-layer, of a residual; with post-norm the residual itself. Not of a training pass.
    Var last_norm(Context& ctx, const Var& residual) const;
    // Shows hooks the residual at the site layer.name. Sub-layer `next` reads it next, so that the norm before it is
    // computed anew if the residual is replaced. Between parallel sub-layers there is no such site.
    Stream at_site(Context& ctx, const std::string& layer, const char* name, std::size_t next,
                   const Stream& stream) const;

private:
    struct Sublayer {
        std::optional<LayerNorm> norm;         // of the input, the sum or the output; empty: it reads what the first
                                               // of two parallel ones reads
        std::optional<LayerNorm> output_norm;  // beside one of the input
        std::uint32_t site = 0;
        bool waits = false;  // for a second one that is parallel to it
    };
    bool waits_next() const;
    // The norm that a sub-layer, or with their number what follows the stack, reads the residual through; may be null.
    const LayerNorm* norm_before(std::size_t sublayer) const;
    Stream read_by(Context& ctx, std::size_t sublayer, const Var& residual, const Tensor& lengths) const;
    Stream wait(Context& ctx, std::size_t index, const Stream& stream, const Var& output,
                const DropoutRule& rule) const;

    ModelConfig config_;
    std::vector<Sublayer> sublayers_;
    std::optional<LayerNorm> stack_norm_;
};

// Reports what runs now, part + rest, to the context, and to the tape and the hooks if there are any.
void set_label(const Context& ctx, const std::string& part, const char* rest);

}  // namespace headscope

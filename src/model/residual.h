// 3.1: the residual connection round each sub-layer, and where its layer normalisation stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autograd/functions.h"
#include "model/config.h"
#include "model/parameters.h"

namespace headscope {

// Numbers the dropouts of a model: each draws from a site of its own (DropoutRule::site).
class DropoutSites {
public:
    std::uint32_t next() { return next_++; }

private:
    std::uint32_t next_ = 0;
};

// What flows between sub-layers. Post-norm: one and the same. Pre-norm: the sum goes round, its norm goes in.
struct Stream {
    Var residual;  // [batch, length, d_model], what the next sub-layer's output is added to
    Var normed;    // [batch, length, d_model], what the next sub-layer reads
};

class LayerNorm {
public:
    LayerNorm(const ModelConfig& config, const Parameters& parameters, const std::string& prefix);
    Normed operator()(Context& ctx, const Var& x, const Var& residual, const DropoutRule& rule) const;

private:
    Var gain_, bias_;
    float epsilon_;
};

// LayerNorm(x + Dropout(Sublayer(x))) with post-norm. With pre-norm x + Dropout(Sublayer(LayerNorm(x))): the addition
// of one sub-layer runs together with the norm that the next one starts with, the stack's final norm after the last.
class AddAndNorm {
public:
    AddAndNorm(const ModelConfig& config, const Parameters& parameters, const std::string& norm, DropoutSites& sites);
    // Spends `sublayer`, the output of the sub-layer that read stream.normed.
    Stream operator()(Context& ctx, const Stream& stream, const Var& sublayer) const;

private:
    LayerNorm norm_;
    bool pre_;
    std::uint32_t site_;
};

// The name of the norm that follows the sub-layer `index` of a stack whose sub-layers' norms are `norms`: its own with
// post-norm, the next one's with pre-norm, the stack's final one after the last.
std::string norm_after(const ModelConfig& config, const std::vector<std::string>& norms, std::size_t index,
                       const std::string& stack);

// What the first sub-layer gets: the embeddings, with pre-norm normed (spends them).
Stream start_stream(Context& ctx, const Var& embedded, const std::optional<LayerNorm>& first_norm);

// Tells the context, and the tape if there is one, what runs now: part + rest.
void set_label(const Context& ctx, const std::string& part, const char* rest);

}  // namespace headscope

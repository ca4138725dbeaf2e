// What mixes positions in the first sub-layer of every layer of a stack: self-attention (3.2.2), or what stands in for
// it. Section 4 compares them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "autograd/rotary.h"
#include "backend/attention_mask.h"
#include "model/cache.h"
#include "model/residual.h"

namespace headscope {

// What cross-attention reads.
struct Memory {
    Var states = {};      // [batch, source_length, d_model]; without cross-attention see Recurrent
    Tensor lengths = {};  // I32 [batch]
};

// What a mixer reads beside x.
struct MixerInputs {
    AttentionMask mask = {};  // lengths without padding, whether later positions may be read, documents of a row
    Var by_distance = {};     // see RelativeTable; undefined without relative positions
    Turns turns = {};         // see RotaryTables; undefined without rotary positions
    Memory memory = {};       // of the encoder; undefined in other stacks
    std::vector<Var>* last_states = nullptr;  // where each recurrent layer adds its last states, [batch, d_model] each
};

class Mixer {
public:
    Mixer() = default;
    Mixer(const Mixer&) = delete;
    Mixer& operator=(const Mixer&) = delete;
    virtual ~Mixer() = default;

    // All positions of x [batch, length, d_model]; result [batch, length, d_model].
    virtual Var operator()(Context& ctx, const Var& x, const MixerInputs& inputs) const = 0;

    // Decoding with a cache, in stacks whose positions read no later ones; the same numbers as above.
    // What a cache keeps for it.
    virtual CachePlan cache_plan() const = 0;
    // The first states, which are 0 unless this writes others.
    virtual void start(Context& /*ctx*/, const Cache::Layer& /*cached*/, const Memory& /*memory*/) const {}
    // The tokens that follow those in the cache, x [rows, tokens, d_model], which it adds to `cached`; result
    // [rows, tokens, d_model]. Of `inputs` it reads what is about positions. Only runs ops, see Stack::append().
    virtual Var append(Context& ctx, const Cache& cache, const Cache::Layer& cached, const Var& x,
                       const MixerInputs& inputs) const = 0;
};

// Which part of a layer it is, as in the names of parameters: "self_attention".
std::string mixer_part(MixerKind kind);
// The one that the configuration chooses for a stack. `site` says which stack and layer.
std::unique_ptr<Mixer> make_mixer(const ModelConfig& config, const Scope& scope, AttentionSite site,
                                  DropoutSites& sites);

}  // namespace headscope

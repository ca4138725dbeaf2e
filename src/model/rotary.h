// Rotary positions (Su et al., 2021): self-attention turns each query and key by angles that grow with its position,
// instead of adding something to the embeddings. Kinds other than the plain one slow the turns down, so that a model
// that was trained on short texts reads longer ones.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "autograd/rotary.h"
#include "backend/backend.h"
#include "backend/repeated_sequence.h"
#include "model/config.h"

namespace headscope {

// The angle, in radians, by which each pair of columns turns from one position to the next, for `columns` of them.
std::vector<double> rotary_speeds(const RotaryConfig& rotary, std::int64_t columns);
// Whether a layer of a stack turns its queries and keys.
bool is_turned(const ModelConfig& config, int layer);
// The window of a layer's self-attention, which is of this kind; 0: it reads all positions.
std::int64_t window_of(const ModelConfig& config, AttentionKind self, int layer);

// The cosines and sines of all positions on a device, one table for layers with a window and one for the others. They
// grow when longer ones are requested.
class RotaryTables {
public:
    explicit RotaryTables(const ModelConfig& config);

    // Tables of at least `length` positions.
    void grow(Backend& backend, std::int64_t length);
    // How the layers with or without a window turn tokens from position 0 on. Undefined turns without rotary positions.
    Turns turns(bool windowed) const;
    // The same for one token of each row, each at its own of `places`, I32 [rows].
    Turns turns_at(Backend& backend, bool windowed, const Tensor& places) const;
    // All that the ops of a step depend on.
    void add_to(Dependencies& dependencies) const;

private:
    std::size_t number_of(bool windowed) const { return windowed && apart_ ? 1 : 0; }

    bool neighbours_;
    bool apart_;                                 // layers with a window turn as plain ones, at their own speed
    std::int64_t max_length_;                    // tables have no more positions unless they are requested
    double magnitude_;                           // of layers without a window, or of all
    std::array<std::vector<double>, 2> speeds_;  // of layers without and with a window; empty: they do not turn
    std::array<Tensor, 2> tables_;               // [positions, 2, pairs]; the second only if they are apart
};

}  // namespace headscope

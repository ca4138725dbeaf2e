// One kind of layer alone: what Table 1 of the paper compares. Without residual connections, norms and feed-forward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "experiment/layer_kinds.h"
#include "experiment/pass_cost.h"
#include "model/description.h"
#include "model/mixer.h"

namespace headscope {

// A model of an encoder alone, whose `heads` share its `width` columns, for texts of up to `length` positions.
ModelConfig encoder_alone(int layers, std::int64_t width, std::int64_t heads, std::int64_t d_ff, std::int64_t length);

struct LayerCost {
    std::int64_t length = 0, width = 0;  // n and d
    PassCost pass = {};
    double multiply_adds = 0.0;  // of the forward pass
};

class LayerProbe {
public:
    // `layers` of them, each reading the one before; one sequence of `length` positions with `width` columns, which see
    // both sides. Heads have 64 columns, or one has all. Error if the kind cannot have these sizes.
    LayerProbe(Backend& backend, const LayerKind& kind, std::int64_t length, std::int64_t width, int layers = 1);

    // A pass forward and one back to input and weights, at least `repeat` times.
    LayerCost measure(int repeat);
    // The output [1, length, width] of a pass forward.
    Var forward(Tape* tape) const;
    // The norm of the gradient that the last position of the output has at the first of the input, divided by that
    // at the last one: 0 if it does not depend on it.
    double influence_of_first();

private:
    Backend& backend_;
    ModelConfig config_;
    std::int64_t length_;
    ModelDescription declared_;
    std::unique_ptr<Parameters> parameters_;
    DropoutSites sites_;
    std::vector<std::unique_ptr<Mixer>> mixers_;
    Var x_;
};

// From the first position to the last one through as many layers as that needs.
struct LayerPath {
    std::int64_t length = 0;      // n
    int layers = 0;               // the fewest that connect them
    std::int64_t sequential = 0;  // dependent ops of one layer
    std::int64_t path = 0;        // and of all `layers`
    double influence = 0.0;       // LayerProbe::influence_of_first() through all `layers`
};
// `cpu`: opens the CPU.
LayerPath measure_path(const std::function<std::unique_ptr<Backend>()>& cpu, const LayerKind& kind, std::int64_t length,
                       std::int64_t width);

}  // namespace headscope

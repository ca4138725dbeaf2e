// How large the gradient of each parameter is, found on the device as each becomes final on the way back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "model/parameters.h"

namespace headscope {

class GradientWatch {
public:
    GradientWatch(Backend& backend, const Parameters& parameters);

    // A way back begins. With final_gradient() this is part of the pass, which a backend may replay.
    void begin() { order_.clear(); }
    // For Tape::on_final_gradient: enqueues the sum of squares of this parameter's gradient, or of each that is packed
    // in it.
    void final_gradient(const Var& parameter);

    // [count()]: the sums of squares of the newest way back, in the order of the parameters' table. Gradients as they
    // are in memory, which are neither divided by the tokens nor by the loss scale.
    const Tensor& squares() const { return squares_; }
    std::int64_t count() const { return squares_.dim(0); }

    // What a host that has read the squares makes of them. The norm of each layer's part: "embedding",
    // "encoder.layers.0.self_attention", ..; `divisor` is what the gradients are to be divided by.
    std::map<std::string, double> norms(const std::vector<double>& squares, double divisor) const;
    // The first parameter on the way back whose gradient is not finite; empty where each is. The order is that of the
    // newest way back that was not replayed, which is that of all.
    std::string first_not_finite(const std::vector<double>& squares) const;

private:
    struct Part {
        std::string name, layer;
        std::int64_t begin = 0, elements = 0;  // in the flat gradient
    };

    Backend& backend_;
    const Parameters& parameters_;
    std::vector<Part> parts_;  // by where they begin
    Tensor squares_;
    std::vector<std::size_t> order_;  // of parts_, as they became final
};

}  // namespace headscope

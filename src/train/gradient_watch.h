// Measures the gradient of each parameter on the device, as soon as it is final in the backward pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "model/parameters.h"
#include "parallel/sharded_sum.h"

namespace headscope {

class GradientWatch {
public:
    // Of gradients that are sums over shards, `sum` measures: in each of its ranges apart, once all shards are added.
    GradientWatch(Backend& backend, const Parameters& parameters, const ShardedSum* sum = nullptr);

    // Call at the start of a backward pass. Like final_gradient() this is part of the pass, which a backend may replay.
    void begin() { order_.clear(); }
    // For Tape::on_final_gradient: enqueues the sum of squares of this parameter's gradient, or of each parameter
    // packed in it. Of sums over shards it only notes the order.
    void final_gradient(const Var& parameter);
    // Enqueues the sums of squares in these ranges of a sum over shards.
    void measure(const ShardRange& ranges);
    // Whether the sum of squares of this number is of these ranges.
    bool within(std::int64_t number, const ShardRange& ranges) const {
        return ranges.contains(parts_[static_cast<std::size_t>(number)].range);
    }

    // [count()]: the sums of squares of the newest step, in the order of the parameters' table, of gradients as in
    // memory: divided neither by the tokens nor by the loss scale.
    const Tensor& squares() const { return squares_; }
    void use(const Tensor& squares) { squares_ = squares; }  // as the memory of squares()
    std::int64_t count() const { return std::ssize(parts_); }

    // From squares on the host: the norm of each layer's gradient ("embedding", "encoder.layers.0.self_attention", ..).
    // `divisor`: what the gradients must be divided by.
    std::map<std::string, double> norms(const std::vector<double>& squares, double divisor) const;
    // The first parameter in the backward pass whose gradient is not finite; "" if all are finite. The order is that of
    // the newest pass.
    std::string first_not_finite(const std::vector<double>& squares) const;

private:
    struct Part {
        std::string name, layer;
        std::int64_t begin = 0, elements = 0;  // in the flat gradient
        int range = 0;                         // of the sum over shards
    };

    void square(std::size_t index);

    Backend& backend_;
    const Parameters& parameters_;
    bool of_shards_;
    std::vector<Part> parts_;  // ascending by `begin`
    Tensor squares_;
    std::vector<std::size_t> order_;  // of parts_, as they became final
};

}  // namespace headscope

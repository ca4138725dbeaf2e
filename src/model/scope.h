// A place in the model, such as "encoder.layers.0.feed_forward", at which a layer's constructor declares its
// parameters, products and block, and gets the parameters it declares.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "model/description.h"
#include "model/parameters.h"

namespace headscope {

class Scope {
public:
    // The root. Without `parameters` all that is returned is undefined.
    Scope(ModelDescription& description, const Parameters* parameters)
        : description_(description), parameters_(parameters) {}

    Scope in(const std::string& part) const;
    Scope layer(int index) const;  // "layers.<index>", counted from 0
    // Weights declared here are multiplied with each of these tokens.
    Scope for_each(double MultiplyAdds::*token) const;
    // Weights declared here have parts of equal size (experts), of which each token is multiplied with `multiplied`.
    Scope with_parts(std::int64_t multiplied) const;
    const std::string& name() const { return name_; }

    // Parameters declared later belong to `block`, until the next call.
    void block(Block block) const;
    void multiply_adds(double MultiplyAdds::*of_each, std::int64_t count) const;
    // Counts only query-key pairs of a stack that are at most `window` apart; 0: all.
    void pairs_within(WindowedLayers MultiplyAdds::*of_stack, const WindowedLayers& layers) const;
    void output_cluster(std::int64_t multiply_adds) const;  // see ModelDescription::output_clusters

    struct Rows {
        std::string name;
        std::int64_t count;
    };
    // "<name>.weight" of all parts, read as one matrix [sum of rows, columns] that is multiplied with each token.
    Var weight(const std::vector<Rows>& parts, std::int64_t columns, Initial initial = Initial::Glorot) const;
    // The same of one part, in 32 bits whatever other weights are stored in.
    Var full_weight(const Rows& rows, std::int64_t columns, Initial initial = Initial::Glorot) const;
    // "<name>.bias" of all parts, read as one vector [sum of rows].
    Var bias(const std::vector<Rows>& parts, Initial initial = Initial::Zero) const;
    // An embedding table, "weight" of this scope.
    Var table(std::int64_t rows, std::int64_t columns) const;
    // Values that stay in 32 bits and are not multiplied as a matrix.
    Var values(const char* name, const Shape& shape, Initial initial) const;
    // The same that training fills in another way than by gradients.
    Tensor buffer(const char* name, const Shape& shape, Initial initial) const;
    // I32 numbers that are no parameters, on the device of those.
    Tensor constants(const std::vector<std::int32_t>& numbers) const;

private:
    Var declare(ParameterSpec spec) const;
    Var packed(const std::vector<ParameterSpec>& parts) const;

    ModelDescription& description_;
    const Parameters* parameters_;
    std::string name_;
    int layer_ = 0;
    double MultiplyAdds::*token_ = nullptr;
    std::int64_t multiplied_parts_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace headscope

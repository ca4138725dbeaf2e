// A tensor that may have a gradient.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace headscope {

// Where a gradient is to be written, and whether this is the first to write there.
struct GradientTarget {
    Tensor tensor;
    Write write = Write::Overwrite;
};

// A handle; copies share the value and the gradient. A view (narrow, heads, reshape) shares its parent's gradient
// buffer, each region with its own "already written" mark, so that packed q/k/v are views on the way back as well.
// Variables that want a gradient are narrowed along their first or their last dimension alone.
class Var {
public:
    Var() = default;
    // An intermediate or an input; wants a gradient if `requires_grad`.
    explicit Var(Tensor value, bool requires_grad = false);
    // A parameter: its gradient lives in `grad`, of a dtype of its own, is kept over micro-batches, and is marked
    // unwritten by `forget_gradient`.
    static Var parameter(Tensor value, Tensor grad, std::string name);
    // The same variable under a name of its own; views of a flat buffer of parameters get theirs so.
    Var named(std::string name) const;
    // The same gradient for another value of this shape: a parameter's copy in 16 bits.
    Var with_value(Tensor value) const;
    // The same with the scales of its rows: a weight in I8, which wants no gradient.
    Var with_scales(Tensor scales) const;
    // The same gradient without the value: what closures keep that need no more, so that the value's memory is free.
    Var without_value() const;

    bool defined() const;
    const Tensor& value() const;
    const Tensor& scales() const;  // [rows] of a weight in I8, else undefined
    const Shape& shape() const;
    bool requires_grad() const;
    const std::string& name() const;  // parameters only

    // The gradient; nothing may be asked of a variable that no one wrote to (has_gradient).
    bool has_gradient() const;
    Tensor gradient() const;
    // Allocates on first use. The first writer of a region is told Overwrite, the next ones Accumulate.
    GradientTarget gradient_target(Backend& backend) const;
    // Adds a finished gradient. Where it is the first, its tensor itself becomes the gradient: nobody else may use it.
    void add_gradient(Backend& backend, const Tensor& gradient) const;
    // Lets the gradient (of a parameter: its written marks only) and, for intermediates, nothing else go.
    void forget_gradient() const;

    Var reshape(const Shape& to) const;
    Var narrow(int dimension, std::int64_t start, std::int64_t size) const;
    // [batch, length, heads * depth] seen as [batch, heads, length, depth]
    Var heads(std::int64_t count) const;

    const void* identity() const { return node_.get(); }  // equal for copies, for use as a key

private:
    struct Node;
    explicit Var(std::shared_ptr<Node> node);
    std::shared_ptr<Node> node_;
};

}  // namespace headscope

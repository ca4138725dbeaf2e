// A tensor that may have a gradient.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace headscope {

// Where a gradient is written, and whether this is the first write there.
struct GradientTarget {
    Tensor tensor;
    Write write = Write::Overwrite;
};

// A handle; copies share value and gradient. A view (narrow, heads, reshape) shares its parent's gradient buffer; each
// region has its own "already written" mark, so packed q/k/v are views in the backward pass too. Variables that require
// a gradient can be narrowed only along their first or last dimension.
class Var {
public:
    Var() = default;
    // An intermediate or an input; requires a gradient if `requires_grad`.
    explicit Var(Tensor value, bool requires_grad = false);
    // A parameter: its gradient lives in `grad`, which may have another dtype, is kept over micro-batches, and is
    // marked unwritten by `forget_gradient`.
    static Var parameter(Tensor value, Tensor grad, std::string name);
    // The same variable with a name; views of a flat buffer of parameters are named this way.
    Var named(std::string name) const;
    // The same gradient for another value of this shape: a parameter's 16-bit copy.
    Var with_value(Tensor value) const;
    // The same with row scales: an I8 weight, which requires no gradient.
    Var with_scales(Tensor scales) const;
    // A weight of so many columns in blocks (tensor/blocks.h), which requires no gradient.
    static Var in_blocks(Tensor codes, Tensor scales, std::int64_t columns);
    // The same with `rounded`, its value in the dtype of activations, for ops that would round it each time.
    Var with_rounded(Tensor rounded) const;
    // The same gradient without the value, for closures that do not need it, so that its memory is freed.
    Var without_value() const;

    bool defined() const;
    const Tensor& value() const;    // of a weight in blocks the codes
    const Tensor& scales() const;   // [rows] of an I8 weight, [rows, blocks] of one in blocks, else undefined
    const Tensor& rounded() const;  // of its shape; mostly undefined
    const Shape& shape() const;
    bool requires_grad() const;
    bool is_in_blocks() const;
    const std::string& name() const;  // parameters only

    // gradient() requires has_gradient(): that someone has written to it.
    bool has_gradient() const;
    Tensor gradient() const;
    // Allocates on first use. The first writer of a region gets Overwrite, later ones Accumulate.
    GradientTarget gradient_target(Backend& backend) const;
    // Adds a finished gradient. The first one becomes the gradient itself, so nobody else may use its tensor.
    void add_gradient(Backend& backend, const Tensor& gradient) const;
    // Says that the sums over the rows of the gradient, which has the columns of `bias`, are a term of the gradient of
    // `bias`. An op that is the last to write the gradient may write them with it.
    void sums_are_gradient_of(const Var& bias) const;
    // For that op: where the sums go, which the caller then writes; an undefined tensor if no one wants them.
    GradientTarget sums_target(Backend& backend) const;
    bool has_sums() const;  // whether they were written with the gradient
    // Drops the gradient; of a parameter only its written marks.
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

#include "autograd/variable.h"

#include <algorithm>
#include <utility>

#include "backend/ops/elementwise.h"
#include "support/check.h"

namespace headscope {

namespace {

// Part of a gradient, seen as a matrix [rows, columns] whose columns are the root's innermost dimension.
struct Region {
    std::int64_t row = 0, rows = 0;
    std::int64_t column = 0, columns = 0;

    std::int64_t area() const { return rows * columns; }
    std::int64_t overlap(const Region& other) const {
        const std::int64_t high = std::min(row + rows, other.row + other.rows) - std::max(row, other.row);
        const std::int64_t wide =
            std::min(column + columns, other.column + other.columns) - std::max(column, other.column);
        return std::max<std::int64_t>(high, 0) * std::max<std::int64_t>(wide, 0);
    }
    bool inside(const Region& other) const { return overlap(other) == area(); }
};

// State shared by all views of one variable.
struct GradientState {
    Tensor tensor;  // contiguous, `shape`; undefined until the first write, except for parameters
    Shape shape;
    DType dtype = DType::F32;
    bool parameter = false;
    std::vector<Region> written;  // disjoint
    Var sums_to;                  // whose gradient the sums over rows are part of
    bool summed = false;

    std::int64_t covered(const Region& region) const {
        std::int64_t sum = 0;
        for (const Region& done : written) {
            sum += done.overlap(region);
        }
        return sum;
    }
};

}  // namespace

struct Var::Node {
    Tensor value;  // undefined after without_value()
    Tensor scales;
    Tensor rounded;
    bool in_blocks = false;  // `value` are codes, so its shape is another
    std::string name;
    std::shared_ptr<GradientState> state;  // null: requires no gradient
    Region region;
    // This view of the root's gradient.
    Shape shape;
    Strides strides{};
    std::int64_t offset = 0;  // from the root's first element

    Tensor gradient_view() const {
        Tensor view = state->tensor;
        view.shape = shape;
        view.strides = strides;
        view.offset += offset;
        return view;
    }
};

namespace {

std::shared_ptr<GradientState> make_state(const Tensor& value) {
    HEADSCOPE_CHECK(value.contiguous() && value.rank() > 0,
                    "a variable that wants a gradient is contiguous, this is " + value.to_string());
    auto state = std::make_shared<GradientState>();
    state->shape = value.shape;
    state->dtype = value.dtype;
    return state;
}

Region whole_of(const Shape& shape) {
    const std::int64_t columns = shape[-1];
    return {0, columns == 0 ? 0 : shape.elements() / columns, 0, columns};
}

Region narrowed(const Region& region, const Shape& shape, int dimension, std::int64_t start, std::int64_t size) {
    const int dim = dimension < 0 ? dimension + shape.rank() : dimension;
    Region part = region;
    if (dim == shape.rank() - 1 && shape[-1] == region.columns) {
        part.column += start;
        part.columns = size;
        return part;
    }
    HEADSCOPE_CHECK(dim == 0 && shape[0] > 0,
                    "a variable that wants a gradient is narrowed along its first or last dimension, not along " +
                        std::to_string(dim) + " of " + shape.to_string());
    if (region.rows == 1) {  // a range of a flat buffer
        const std::int64_t step = region.columns / shape[0];
        part.column += start * step;
        part.columns = size * step;
    } else {
        HEADSCOPE_CHECK(region.rows % shape[0] == 0, "rows of " + shape.to_string() + " are no rows of the gradient");
        const std::int64_t step = region.rows / shape[0];
        part.row += start * step;
        part.rows = size * step;
    }
    return part;
}

}  // namespace

Var::Var(std::shared_ptr<Node> node) : node_(std::move(node)) {}

Var::Var(Tensor value, bool requires_grad) : node_(std::make_shared<Node>()) {
    if (requires_grad) {
        node_->state = make_state(value);
        node_->region = whole_of(value.shape);
    }
    node_->shape = value.shape;
    node_->strides = value.strides;
    node_->value = std::move(value);
}

Var Var::parameter(Tensor value, Tensor grad, std::string name) {
    HEADSCOPE_CHECK(grad.contiguous() && grad.shape == value.shape,
                    "the gradient of " + name + " is " + value.shape.to_string() + ", this is " + grad.to_string());
    Var var(std::move(value), true);
    var.node_->name = std::move(name);
    var.node_->state->tensor = std::move(grad);
    var.node_->state->parameter = true;
    return var;
}

Var Var::named(std::string name) const {
    Var copy(std::make_shared<Node>(*node_));
    copy.node_->name = std::move(name);
    return copy;
}

Var Var::with_value(Tensor value) const {
    HEADSCOPE_CHECK(defined() && value.contiguous() && value.shape == shape(),
                    "a replaced value must have the variable's shape, found " + value.to_string());
    Var copy(std::make_shared<Node>(*node_));
    copy.node_->value = std::move(value);
    copy.node_->rounded = Tensor();
    return copy;
}

Var Var::with_scales(Tensor scales) const {
    HEADSCOPE_CHECK(!requires_grad() && scales.shape == Shape{shape()[0]},
                    "a weight of " + shape().to_string() + " has a scale for each row, not " + scales.to_string());
    Var copy(std::make_shared<Node>(*node_));
    copy.node_->scales = std::move(scales);
    return copy;
}

Var Var::in_blocks(Tensor codes, Tensor scales, std::int64_t columns) {
    HEADSCOPE_CHECK(codes.dim(0) == scales.dim(0),
                    "the codes " + codes.to_string() + " have the scales of other rows, " + scales.to_string());
    Var weight(std::move(codes));
    weight.node_->shape.set(1, columns);
    weight.node_->scales = std::move(scales);
    weight.node_->in_blocks = true;
    return weight;
}

Var Var::with_rounded(Tensor rounded) const {
    HEADSCOPE_CHECK(rounded.shape == shape(), "a rounded value must have the variable's shape, " + shape().to_string() +
                                                  ", not " + rounded.to_string());
    Var copy(std::make_shared<Node>(*node_));
    copy.node_->rounded = std::move(rounded);
    return copy;
}

Var Var::without_value() const {
    if (!defined()) {
        return {};
    }
    Var copy(std::make_shared<Node>(*node_));
    copy.node_->value = Tensor();
    copy.node_->rounded = Tensor();
    return copy;
}

bool Var::defined() const {
    return node_ != nullptr;
}

const Tensor& Var::value() const {
    HEADSCOPE_CHECK(defined() && node_->value.defined(), "this variable has no value");
    return node_->value;
}

const Tensor& Var::scales() const {
    HEADSCOPE_CHECK(defined(), "an undefined variable has no scales");
    return node_->scales;
}

const Tensor& Var::rounded() const {
    HEADSCOPE_CHECK(defined(), "an undefined variable has no rounded value");
    return node_->rounded;
}

const Shape& Var::shape() const {
    HEADSCOPE_CHECK(defined(), "an undefined variable has no shape");
    return node_->shape;
}

bool Var::requires_grad() const {
    return defined() && node_->state != nullptr;
}

bool Var::is_in_blocks() const {
    return defined() && node_->in_blocks;
}

const std::string& Var::name() const {
    HEADSCOPE_CHECK(defined(), "an undefined variable has no name");
    return node_->name;
}

bool Var::has_gradient() const {
    return requires_grad() && node_->state->covered(node_->region) == node_->region.area() &&
           node_->state->tensor.defined();
}

Tensor Var::gradient() const {
    HEADSCOPE_CHECK(has_gradient(),
                    "no one wrote the whole gradient of " +
                        (defined() ? node_->name + " " + node_->shape.to_string() : std::string("nothing")));
    return node_->gradient_view();
}

GradientTarget Var::gradient_target(Backend& backend) const {
    HEADSCOPE_CHECK(requires_grad(), "this variable wants no gradient");
    GradientState& state = *node_->state;
    HEADSCOPE_CHECK(!state.summed, "something is added to a gradient whose rows have been summed");
    if (!state.tensor.defined()) {
        state.tensor = backend.empty(state.shape, state.dtype);
    }
    const std::int64_t covered = state.covered(node_->region);
    HEADSCOPE_CHECK(covered == 0 || covered == node_->region.area(),
                    "a gradient of " + node_->shape.to_string() + " is written in part already");
    if (covered == 0) {
        state.written.push_back(node_->region);
    }
    return {node_->gradient_view(), covered == 0 ? Write::Overwrite : Write::Accumulate};
}

void Var::add_gradient(Backend& backend, const Tensor& gradient) const {
    HEADSCOPE_CHECK(gradient.shape == shape(),
                    "a gradient of " + shape().to_string() + " was expected, this is " + gradient.to_string());
    GradientState& state = *node_->state;
    const bool whole =
        node_->region.area() == state.shape.elements() && node_->strides == contiguous_strides(node_->shape);
    if (!state.tensor.defined() && whole && gradient.contiguous()) {
        state.tensor = gradient.reshape(state.shape);
        state.written.push_back(node_->region);
        return;
    }
    const GradientTarget target = gradient_target(backend);
    backend.run(Copy{.x = gradient, .out = target.tensor, .write = target.write});
}

void Var::sums_are_gradient_of(const Var& bias) const {
    HEADSCOPE_CHECK(requires_grad() && bias.requires_grad() && bias.shape() == Shape{node_->state->shape[-1]},
                    "a bias of " + bias.shape().to_string() + " is not one of the columns of " + shape().to_string());
    node_->state->sums_to = bias;
}

GradientTarget Var::sums_target(Backend& backend) const {
    if (!requires_grad()) {
        return {};
    }
    GradientState& state = *node_->state;
    if (!state.sums_to.defined() || shape()[-1] != state.shape[-1] || shape().elements() != state.shape.elements()) {
        return {};
    }
    state.summed = true;
    return state.sums_to.gradient_target(backend);
}

bool Var::has_sums() const {
    return requires_grad() && node_->state->summed;
}

void Var::forget_gradient() const {
    HEADSCOPE_CHECK(requires_grad(), "this variable wants no gradient");
    GradientState& state = *node_->state;
    state.summed = false;
    std::erase_if(state.written, [&](const Region& done) {
        HEADSCOPE_CHECK(done.inside(node_->region) || done.overlap(node_->region) == 0,
                        "only part of what was written together would be forgotten");
        return done.overlap(node_->region) > 0;
    });
    if (!state.parameter && state.written.empty()) {
        state.tensor = Tensor();
    }
}

Var Var::reshape(const Shape& to) const {
    Var view(std::make_shared<Node>(*node_));
    HEADSCOPE_CHECK(!node_->scales.defined(), "a weight with scales is not reshaped");
    view.node_->value = value().reshape(to);
    if (node_->rounded.defined()) {
        view.node_->rounded = node_->rounded.reshape(to);
    }
    view.node_->shape = to;
    view.node_->strides = view.node_->value.strides;
    return view;
}

Var Var::narrow(int dimension, std::int64_t start, std::int64_t size) const {
    Var view(std::make_shared<Node>(*node_));
    view.node_->value = value().narrow(dimension, start, size);
    if (node_->scales.defined()) {
        HEADSCOPE_CHECK(dimension == 0, "a weight with scales is narrowed to some of its rows");
        view.node_->scales = node_->scales.narrow(0, start, size);
        view.node_->shape.set(0, size);
        return view;
    }
    if (node_->rounded.defined()) {
        view.node_->rounded = node_->rounded.narrow(dimension, start, size);
    }
    view.node_->shape = view.node_->value.shape;
    view.node_->offset += view.node_->value.offset - node_->value.offset;
    if (requires_grad()) {
        view.node_->region = narrowed(node_->region, node_->shape, dimension, start, size);
    }
    return view;
}

Var Var::heads(std::int64_t count) const {
    Var view(std::make_shared<Node>(*node_));
    view.node_->value = value().heads(count);
    view.node_->rounded = Tensor();
    view.node_->shape = view.node_->value.shape;
    view.node_->strides = view.node_->value.strides;
    return view;
}

}  // namespace headscope

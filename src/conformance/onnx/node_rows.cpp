// Ops of rows: Softmax, LogSoftmax, LayerNormalization and SoftmaxCrossEntropyLoss.
#include <algorithm>
#include <cmath>

#include "backend/ops/attention.h"
#include "backend/ops/layer_norm.h"
#include "backend/ops/loss.h"
#include "backend/ops/search.h"
#include "conformance/onnx/node_ops.h"

namespace headscope::conformance {

namespace {

// Moves one axis of a tensor last, as our ops need it, and back.
class Rows {
public:
    Rows(const OnnxTensor& tensor, std::int64_t axis) {
        const std::int64_t rank = tensor.rank();
        if (axis < -rank || axis >= rank) {
            throw NotOurs("an axis is out of range");
        }
        const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
        columns_ = tensor.dims[at];
        if (columns_ == 0) {
            throw NotOurs("rows of no columns");
        }
        for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
            (i < at ? outer_ : i > at ? inner_ : one_) *= i == at ? 1 : tensor.dims[i];
        }
        values_.resize(tensor.values.size());
        for (std::size_t i = 0; i < values_.size(); ++i) {
            values_[i] = tensor.values[place(i)];
        }
    }
    std::int64_t rows() const { return outer_ * inner_; }
    std::int64_t columns() const { return columns_; }
    const std::vector<double>& values() const { return values_; }
    // Puts such rows back into the tensor's order.
    std::vector<double> back(const std::vector<double>& rows) const {
        std::vector<double> all(rows.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[place(i)] = rows[i];
        }
        return all;
    }

private:
    // The place in the tensor of an element of the rows.
    std::size_t place(std::size_t index) const {
        const auto at = static_cast<std::int64_t>(index);
        const std::int64_t row = at / columns_;
        return static_cast<std::size_t>((row / inner_ * columns_ + at % columns_) * inner_ + row % inner_);
    }

    std::int64_t outer_ = 1;
    std::int64_t inner_ = 1;
    std::int64_t one_ = 1;
    std::int64_t columns_ = 1;
    std::vector<double> values_;
};

// Before opset 13 softmax was over all axes from `axis`.
void require_one_axis(const NodeCall& call) {
    constexpr std::int64_t kSince = 13;
    if (call.opset < kSince) {
        throw NotOurs("it is the softmax of opset 12 and before, over several axes");
    }
}

// log_softmax of rows, as a top-k of all entries.
std::vector<double> log_softmax(Backend& backend, const OnnxTensor& like, const Rows& rows) {
    if (rows.columns() > LogSoftmaxTopK::kMaxK) {
        throw NotOurs("our log_softmax gives the best 64 entries of a row alone");
    }
    const NodeDevice device(backend, OpId::LogSoftmaxTopK, like);
    const Shape shape{rows.rows(), rows.columns()};
    const Tensor values = device.make_real(shape);
    const Tensor indices = backend.empty(shape, DType::I32);
    backend.run(LogSoftmaxTopK{device.put(shape, rows.values()), values, indices});
    const std::vector<double> best = device.get(values);
    const std::vector<double> where = device.get(indices);
    std::vector<double> all(best.size());
    for (std::size_t i = 0; i < best.size(); ++i) {
        const std::size_t row = i / static_cast<std::size_t>(rows.columns()) * static_cast<std::size_t>(rows.columns());
        all.at(row + static_cast<std::size_t>(where[i])) = best[i];
    }
    return all;
}

// The losses of rows, reduced as the node requests.
std::vector<double> reduced(const std::vector<double>& losses, std::int64_t counted, const std::string& reduction) {
    if (reduction == "none") {
        return losses;
    }
    double sum = 0.0;
    for (const double loss : losses) {
        sum += loss;
    }
    return {reduction == "sum" ? sum : sum / static_cast<double>(counted)};
}

}  // namespace

std::vector<std::vector<double>> run_softmax(Backend& backend, const NodeCall& call) {
    require_one_axis(call);
    const OnnxTensor& x = call.input(0);
    const NodeDevice device(backend, OpId::MaskedSoftmax, x);
    const Rows rows(x, call.node.integer("axis", -1));
    const Shape shape{1, 1, rows.rows(), rows.columns()};
    const Tensor weights = device.make(shape);
    backend.run(MaskedSoftmax{device.put(shape, rows.values()), weights});
    return {rows.back(device.get(weights))};
}

std::vector<std::vector<double>> run_log_softmax(Backend& backend, const NodeCall& call) {
    require_one_axis(call);
    const OnnxTensor& x = call.input(0);
    const Rows rows(x, call.node.integer("axis", -1));
    return {rows.back(log_softmax(backend, x, rows))};
}

std::vector<std::vector<double>> run_layer_normalization(Backend& backend, const NodeCall& call) {
    const OnnxTensor& x = call.input(0);
    const NodeDevice device(backend, OpId::AddLayerNorm, x);
    const std::int64_t axis = call.node.integer("axis", -1);
    std::int64_t columns = 1;
    for (std::int64_t i = axis < 0 ? axis + x.rank() : axis; i < x.rank(); ++i) {
        columns *= x.dim(static_cast<int>(i));
    }
    if (columns == 0) {
        throw NotOurs("rows of no columns");
    }
    const std::int64_t rows = static_cast<std::int64_t>(x.values.size()) / columns;
    const std::vector<double> none(static_cast<std::size_t>(columns));
    const OnnxTensor& gain = call.input(1);
    const OnnxTensor* bias = call.maybe(2);
    if (gain.values.size() != none.size() || (bias != nullptr && bias->values.size() != none.size())) {
        throw NotOurs("a gain or bias that is not of every column");
    }
    const Shape shape{1, rows, columns};
    const Tensor y = device.make(shape);
    const Tensor mean = device.make_real({1, rows});
    const Tensor rstd = device.make_real({1, rows});
    constexpr float kEpsilon = 1e-5F;
    backend.run(AddLayerNorm{.x = device.put(shape, x.values),
                             .gain = device.put_real({columns}, gain.values),
                             .bias = device.put_real({columns}, bias == nullptr ? none : bias->values),
                             .sum = device.make(shape),
                             .y = y,
                             .mean = mean,
                             .rstd = rstd,
                             .epsilon = call.node.real("epsilon", kEpsilon)});
    return {device.get(y), device.get(mean), device.get(rstd)};
}

std::vector<std::vector<double>> run_cross_entropy(Backend& backend, const NodeCall& call) {
    if (call.maybe(2) != nullptr) {
        throw NotOurs("our loss has no weights of classes");
    }
    const OnnxTensor& scores = call.input(0);  // [N, C, d1, ...]
    const OnnxTensor& labels = call.input(1);  // [N, d1, ...]
    const NodeDevice device(backend, OpId::SmoothedCrossEntropy, scores);
    const Rows rows(scores, 1);
    const bool ignores = call.node.attributes.count("ignore_index") == 1;
    const auto ignored = static_cast<double>(call.node.integer("ignore_index", 0));
    std::vector<double> targets = labels.values;
    std::int64_t counted = 0;
    for (double& target : targets) {
        target = ignores && target == ignored ? -1.0 : target;
        counted += target >= 0.0 ? 1 : 0;
    }
    const Shape shape{rows.rows(), rows.columns()};
    const Tensor nll = device.make_real({rows.rows()});
    backend.run(SmoothedCrossEntropy{.logits = device.put(shape, rows.values()),
                                     .targets = device.put_index({rows.rows()}, targets),
                                     .loss = device.make_real({rows.rows()}),
                                     .nll = nll});
    std::vector<std::vector<double>> outputs{reduced(device.get(nll), counted, call.node.text("reduction", "mean"))};
    if (call.wants(1)) {
        outputs.push_back(rows.back(log_softmax(backend, scores, rows)));
    }
    return outputs;
}

}  // namespace headscope::conformance

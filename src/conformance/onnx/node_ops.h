// Runs ONNX's ops by ours on a device.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "conformance/onnx/model.h"

namespace headscope::conformance {

// A test of a feature that our ops lack, with the reason.
class NotOurs : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A node and its inputs; null for an omitted one.
struct NodeCall {
    const OnnxNode& node;
    std::int64_t opset = 0;
    std::vector<std::optional<OnnxTensor>> inputs;

    const OnnxTensor& input(std::size_t index) const;  // NotOurs if omitted
    const OnnxTensor* maybe(std::size_t index) const;
    // Whether the node's output of this index is requested.
    bool wants(std::size_t output) const;
};

// Whether there is such an op, whatever its attributes.
bool is_our_onnx_op(const OnnxNode& node);

// The outputs in the node's order; empty where not requested. NotOurs names the attribute or input that our ops lack.
std::vector<std::vector<double>> run_node(Backend& device, const NodeCall& call);

// A device and the dtype in which a node's real inputs are stored there.
class NodeDevice {
public:
    // NotOurs if the device lacks the op in the dtype of `like`.
    NodeDevice(Backend& device, OpId op, const OnnxTensor& like);

    Backend& backend() const { return device_; }
    DType dtype() const { return dtype_; }
    Tensor put(const Shape& shape, const std::vector<double>& values) const;
    Tensor put_real(const Shape& shape, const std::vector<double>& values) const;  // of the backend's full_dtype()
    Tensor put_index(const Shape& shape, const std::vector<double>& values) const;
    Tensor make(const Shape& shape) const { return device_.empty(shape, dtype_); }
    Tensor make_real(const Shape& shape) const { return device_.empty(shape, device_.full_dtype()); }
    std::vector<double> get(const Tensor& tensor) const;

private:
    Backend& device_;
    DType dtype_;
};

// One for each op, in node_rows.cpp, node_products.cpp and node_attention.cpp.
std::vector<std::vector<double>> run_softmax(Backend& device, const NodeCall& call);
std::vector<std::vector<double>> run_log_softmax(Backend& device, const NodeCall& call);
std::vector<std::vector<double>> run_layer_normalization(Backend& device, const NodeCall& call);
std::vector<std::vector<double>> run_cross_entropy(Backend& device, const NodeCall& call);
std::vector<std::vector<double>> run_mat_mul(Backend& device, const NodeCall& call);
std::vector<std::vector<double>> run_gemm(Backend& device, const NodeCall& call);
std::vector<std::vector<double>> run_attention(Backend& device, const NodeCall& call);

// Broadcasts `tensor` to `dims` like NumPy: dimensions of 1 are repeated, missing ones prepended. NotOurs if
// impossible.
std::vector<double> broadcast(const OnnxTensor& tensor, const std::vector<std::int64_t>& dims);

}  // namespace headscope::conformance

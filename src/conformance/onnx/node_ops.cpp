#include "conformance/onnx/node_ops.h"

#include <algorithm>
#include <array>

namespace headscope::conformance {

namespace {

struct Entry {
    const char* op;
    std::vector<std::vector<double>> (*run)(Backend&, const NodeCall&);
};

constexpr std::array kEntries{Entry{"Softmax", run_softmax},
                              Entry{"LogSoftmax", run_log_softmax},
                              Entry{"LayerNormalization", run_layer_normalization},
                              Entry{"SoftmaxCrossEntropyLoss", run_cross_entropy},
                              Entry{"MatMul", run_mat_mul},
                              Entry{"Gemm", run_gemm},
                              Entry{"Attention", run_attention}};

const Entry* find(const OnnxNode& node) {
    if (!node.domain.empty() && node.domain != "ai.onnx") {
        return nullptr;
    }
    for (const Entry& entry : kEntries) {
        if (node.op == entry.op) {
            return &entry;
        }
    }
    return nullptr;
}

DType dtype_of(const Backend& device, const OnnxTensor& like) {
    switch (like.type) {
        case OnnxType::Float: return device.full_dtype();
        case OnnxType::Float16: return DType::F16;
        case OnnxType::Bfloat16: return DType::BF16;
        default: throw NotOurs("it is of a type that our ops do not compute in");
    }
}

}  // namespace

const OnnxTensor& NodeCall::input(std::size_t index) const {
    const OnnxTensor* found = maybe(index);
    if (found == nullptr) {
        throw NotOurs("an input is left out that our op needs");
    }
    return *found;
}

const OnnxTensor* NodeCall::maybe(std::size_t index) const {
    return index < inputs.size() && inputs[index] ? &*inputs[index] : nullptr;
}

bool NodeCall::wants(std::size_t output) const {
    return output < node.outputs.size() && !node.outputs[output].empty();
}

bool is_our_onnx_op(const OnnxNode& node) {
    return find(node) != nullptr;
}

std::vector<std::vector<double>> run_node(Backend& device, const NodeCall& call) {
    const Entry* entry = find(call.node);
    if (entry == nullptr) {
        throw NotOurs("no such op here");
    }
    return entry->run(device, call);
}

NodeDevice::NodeDevice(Backend& device, OpId op, const OnnxTensor& like)
    : device_(device), dtype_(dtype_of(device, like)) {
    if (const Support support = device.support(op, dtype_); support.level == SupportLevel::None) {
        throw NotOurs(std::string("the device has no ") + name_of(op) + " in " + name_of(dtype_) + ": " +
                      support.reason);
    }
}

Tensor NodeDevice::put(const Shape& shape, const std::vector<double>& values) const {
    return make_from_host(device_, shape, dtype_, values);
}

Tensor NodeDevice::put_real(const Shape& shape, const std::vector<double>& values) const {
    return make_from_host(device_, shape, device_.full_dtype(), values);
}

Tensor NodeDevice::put_index(const Shape& shape, const std::vector<double>& values) const {
    return make_from_host(device_, shape, DType::I32, values);
}

std::vector<double> NodeDevice::get(const Tensor& tensor) const {
    return to_host<double>(device_, tensor);
}

std::vector<double> broadcast(const OnnxTensor& tensor, const std::vector<std::int64_t>& dims) {
    const std::size_t missing = dims.size() - std::min(dims.size(), tensor.dims.size());
    std::vector<std::int64_t> strides(dims.size(), 0);
    std::int64_t step = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
        const std::int64_t own = i >= missing ? tensor.dims[i - missing] : 1;
        if (tensor.dims.size() > dims.size() || (own != 1 && own != dims[i])) {
            throw NotOurs("shapes do not match");
        }
        strides[i] = own == 1 ? 0 : step;
        step *= own;
    }
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) {
        count *= dim;
    }
    std::vector<double> all;
    all.reserve(static_cast<std::size_t>(count));
    for (std::int64_t index = 0; index < count; ++index) {
        std::int64_t rest = index;
        std::int64_t from = 0;
        for (std::size_t i = dims.size(); i-- > 0;) {
            from += rest % dims[i] * strides[i];
            rest /= dims[i];
        }
        all.push_back(tensor.values.at(static_cast<std::size_t>(from)));
    }
    return all;
}

}  // namespace headscope::conformance

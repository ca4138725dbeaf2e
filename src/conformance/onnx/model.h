// The parts of ONNX files that node tests need. The field numbers are those of onnx.proto, ONNX 1.0 to 1.23.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::conformance {

// TensorProto.DataType
enum class OnnxType : std::uint8_t {
    Float = 1,
    Uint8 = 2,
    Int8 = 3,
    Int32 = 6,
    Int64 = 7,
    Bool = 9,
    Float16 = 10,
    Double = 11,
    Bfloat16 = 16,
};

struct OnnxTensor {
    std::string name;
    OnnxType type = OnnxType::Float;
    std::vector<std::int64_t> dims;
    std::vector<double> values;  // row-major; F16 and BF16 widened, Bool 0 or 1

    std::int64_t dim(int index) const;  // negative ones count from the end
    int rank() const { return static_cast<int>(dims.size()); }
    bool is_real() const;
};

// The types of node attributes that our ops use.
struct OnnxAttribute {
    float real = 0.0F;
    std::int64_t integer = 0;
    std::string text;
};

struct OnnxNode {
    std::string op;  // "Softmax"
    std::string domain;
    std::vector<std::string> inputs;  // an empty name is an omitted input
    std::vector<std::string> outputs;
    std::map<std::string, OnnxAttribute> attributes;

    float real(const std::string& name, float otherwise) const;
    std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
    std::string text(const std::string& name, const std::string& otherwise) const;
};

struct OnnxModel {
    std::vector<OnnxNode> nodes;
    std::vector<std::string> inputs;  // of the graph, in its order
    std::vector<std::string> outputs;
    std::int64_t opset = 0;  // of ONNX's own domain
};

// Error, beginning with `what`, if the bytes are not such a message, have other types, or if dims and values do not
// match.
OnnxTensor parse_onnx_tensor(std::string_view bytes, const std::string& what);
OnnxModel parse_onnx_model(std::string_view bytes, const std::string& what);

// Of a file.
OnnxTensor read_onnx_tensor(const std::string& path);
OnnxModel read_onnx_model(const std::string& path);

}  // namespace headscope::conformance

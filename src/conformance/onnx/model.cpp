#include "conformance/onnx/model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backend/convert.h"
#include "io/mapped_file.h"
#include "io/proto_wire.h"
#include "support/check.h"

namespace headscope::conformance {

namespace {

// Of a tensor: more than any node test has, and few enough for memory.
constexpr std::int64_t kMostElements = std::int64_t{1} << 26U;

std::size_t width_of(OnnxType type) {
    switch (type) {
        case OnnxType::Float:
        case OnnxType::Int32: return 4;
        case OnnxType::Uint8:
        case OnnxType::Int8:
        case OnnxType::Bool: return 1;
        case OnnxType::Float16:
        case OnnxType::Bfloat16: return 2;
        case OnnxType::Int64:
        case OnnxType::Double: return 8;
    }
    return 0;
}

template <class T>
double loaded(const char* from) {
    T value{};
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
}

double load_sixteen(OnnxType type, const char* from) {
    const DType dtype = type == OnnxType::Float16 ? DType::F16 : DType::BF16;
    return load_as<double>(dtype, from);
}

// raw_data: little-endian, as this machine's.
double load(OnnxType type, const char* from) {
    switch (type) {
        case OnnxType::Float: return loaded<float>(from);
        case OnnxType::Uint8:
        case OnnxType::Bool: return loaded<std::uint8_t>(from);
        case OnnxType::Int8: return loaded<std::int8_t>(from);
        case OnnxType::Int32: return loaded<std::int32_t>(from);
        case OnnxType::Int64: return loaded<std::int64_t>(from);
        case OnnxType::Double: return loaded<double>(from);
        case OnnxType::Float16:
        case OnnxType::Bfloat16: return load_sixteen(type, from);
    }
    return 0.0;
}

// Unless they are raw, 16-bit values are stored as integers holding their bits.
void unpack_bits(OnnxTensor& tensor, const std::string& what) {
    if (tensor.type != OnnxType::Float16 && tensor.type != OnnxType::Bfloat16) {
        return;
    }
    for (double& value : tensor.values) {
        if (!(value >= 0.0 && value <= std::numeric_limits<std::uint16_t>::max()) ||
            value != std::trunc(value)) {  // NaN is not valid either
            throw Error(what + ": its 16-bit numbers have more bits, or are no whole numbers");
        }
        const auto bits = static_cast<std::uint16_t>(value);
        value = load_sixteen(tensor.type, reinterpret_cast<const char*>(&bits));
    }
}

void append(std::vector<double>& to, const std::vector<std::int64_t>& integers) {
    for (const std::int64_t each : integers) {
        to.push_back(static_cast<double>(each));
    }
}

void require_size(const OnnxTensor& tensor, const std::string& what) {
    std::int64_t elements = 1;
    for (const std::int64_t dim : tensor.dims) {
        if (dim < 0 || dim > kMostElements || elements * std::max<std::int64_t>(dim, 1) > kMostElements) {
            throw Error(what + " has a tensor of an impossible size");
        }
        elements *= dim;
    }
    if (static_cast<std::size_t>(elements) != tensor.values.size()) {
        throw Error(what + ": expected " + std::to_string(elements) + " values by its dims, found " +
                    std::to_string(tensor.values.size()));
    }
}

OnnxAttribute parse_attribute(WireReader reader, std::string& name) {
    OnnxAttribute attribute;
    while (reader.next()) {
        switch (reader.field()) {
            case 1: name = reader.bytes(); break;
            case 2: attribute.real = reader.float32(); break;
            case 3: attribute.integer = static_cast<std::int64_t>(reader.varint()); break;
            case 4: attribute.text = reader.bytes(); break;
            default: break;
        }
    }
    return attribute;
}

OnnxNode parse_node(WireReader reader) {
    OnnxNode node;
    while (reader.next()) {
        switch (reader.field()) {
            case 1: node.inputs.emplace_back(reader.bytes()); break;
            case 2: node.outputs.emplace_back(reader.bytes()); break;
            case 4: node.op = reader.bytes(); break;
            case 5: {
                std::string name;
                const OnnxAttribute attribute = parse_attribute(reader.message(), name);
                node.attributes[name] = attribute;
                break;
            }
            case 7: node.domain = reader.bytes(); break;
            default: break;
        }
    }
    return node;
}

// ValueInfoProto
std::string parse_name(WireReader reader) {
    std::string name;
    while (reader.next()) {
        if (reader.field() == 1) {
            name = reader.bytes();
        }
    }
    return name;
}

void parse_graph(WireReader reader, OnnxModel& model) {
    while (reader.next()) {
        switch (reader.field()) {
            case 1: model.nodes.push_back(parse_node(reader.message())); break;
            case 11: model.inputs.push_back(parse_name(reader.message())); break;
            case 12: model.outputs.push_back(parse_name(reader.message())); break;
            default: break;
        }
    }
}

// OperatorSetIdProto
void parse_opset(WireReader reader, OnnxModel& model) {
    std::string domain;
    std::int64_t version = 0;
    while (reader.next()) {
        if (reader.field() == 1) {
            domain = reader.bytes();
        } else if (reader.field() == 2) {
            version = static_cast<std::int64_t>(reader.varint());
        }
    }
    if (domain.empty() || domain == "ai.onnx") {
        model.opset = version;
    }
}

std::string_view text_of(const MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

const OnnxAttribute* find(const OnnxNode& node, const std::string& name) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? nullptr : &found->second;
}

void read_fields(std::string_view bytes, OnnxTensor& tensor, std::string_view& raw,
                 std::vector<std::int64_t>& integers) {
    WireReader reader(bytes);
    while (reader.next()) {
        switch (reader.field()) {
            case 1: reader.append_varints(tensor.dims); break;
            case 2: {
                const std::uint64_t type = reader.varint();
                tensor.type = type < 256 ? static_cast<OnnxType>(type) : OnnxType{};
                break;
            }
            case 4: reader.append_floats(tensor.values); break;
            case 5:
            case 7: reader.append_varints(integers); break;
            case 8: tensor.name = reader.bytes(); break;
            case 9: raw = reader.bytes(); break;
            case 10: reader.append_doubles(tensor.values); break;
            default: break;
        }
    }
}

template <class Work>
void name_errors(const std::string& what, const Work& work) {
    try {
        work();
    } catch (const WireError& error) {
        throw Error(what + " is not an ONNX file: " + error.what());
    }
}

}  // namespace

std::int64_t OnnxTensor::dim(int index) const {
    return dims.at(static_cast<std::size_t>(index < 0 ? index + rank() : index));
}

bool OnnxTensor::is_real() const {
    return type == OnnxType::Float || type == OnnxType::Float16 || type == OnnxType::Bfloat16 ||
           type == OnnxType::Double;
}

float OnnxNode::real(const std::string& name, float otherwise) const {
    const OnnxAttribute* found = find(*this, name);
    return found == nullptr ? otherwise : found->real;
}

std::int64_t OnnxNode::integer(const std::string& name, std::int64_t otherwise) const {
    const OnnxAttribute* found = find(*this, name);
    return found == nullptr ? otherwise : found->integer;
}

std::string OnnxNode::text(const std::string& name, const std::string& otherwise) const {
    const OnnxAttribute* found = find(*this, name);
    return found == nullptr ? otherwise : found->text;
}

OnnxTensor parse_onnx_tensor(std::string_view bytes, const std::string& what) {
    OnnxTensor tensor;
    std::string_view raw;
    std::vector<std::int64_t> integers;
    name_errors(what, [&] { read_fields(bytes, tensor, raw, integers); });
    const std::size_t width = width_of(tensor.type);
    if (width == 0) {
        throw Error(what + " holds a tensor of ONNX's type " + std::to_string(static_cast<int>(tensor.type)) +
                    ", which no op of ours has");
    }
    append(tensor.values, integers);
    unpack_bits(tensor, what);
    if (raw.size() % width != 0) {
        throw Error(what + ": its raw data are no whole numbers");
    }
    for (std::size_t at = 0; at < raw.size(); at += width) {
        tensor.values.push_back(load(tensor.type, raw.data() + at));
    }
    require_size(tensor, what);
    return tensor;
}

OnnxModel parse_onnx_model(std::string_view bytes, const std::string& what) {
    OnnxModel model;
    name_errors(what, [&] {
        WireReader reader(bytes);
        while (reader.next()) {
            if (reader.field() == 7) {
                parse_graph(reader.message(), model);
            } else if (reader.field() == 8) {
                parse_opset(reader.message(), model);
            }
        }
        if (model.nodes.empty()) {
            throw WireError("its graph is missing or has no nodes");
        }
    });
    return model;
}

OnnxTensor read_onnx_tensor(const std::string& path) {
    const MappedFile file(path);
    return parse_onnx_tensor(text_of(file), path);
}

OnnxModel read_onnx_model(const std::string& path) {
    const MappedFile file(path);
    return parse_onnx_model(text_of(file), path);
}

}  // namespace headscope::conformance

// Parameters to and from safetensors files.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "io/safetensors.h"
#include "model/model_directory.h"
#include "support/check.h"

namespace headscope {

namespace {

float widen(DType dtype, std::uint16_t bits) {
    return dtype == DType::F16 ? from_f16(bits) : from_bf16(bits);
}

// One tensor of the file to the device: straight from the mapping where no conversion is needed.
void load_one(Backend& backend, const MappedTensor& from, const Tensor& to) {
    if (from.dtype == to.dtype) {
        backend.upload(to, from.data.data(), from.data.size());
        return;
    }
    std::vector<float> values(static_cast<std::size_t>(to.elements()));
    if (from.dtype == DType::F32) {
        std::memcpy(values.data(), from.data.data(), from.data.size());
    } else {
        std::vector<std::uint16_t> bits(values.size());
        std::memcpy(bits.data(), from.data.data(), from.data.size());
        std::transform(bits.begin(), bits.end(), values.begin(),
                       [&](std::uint16_t half) { return widen(from.dtype, half); });
    }
    from_host(backend, to, values);
}

std::vector<std::byte> narrow_values(const std::vector<float>& values, DType dtype, const std::string& name) {
    std::vector<std::byte> bytes(values.size() * size_of(dtype));
    if (dtype == DType::F32) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    }
    std::vector<std::uint16_t> bits(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        bits[i] = dtype == DType::F16 ? to_f16(values[i]) : to_bf16(values[i]);
        if (dtype == DType::F16 && std::isfinite(values[i]) && !std::isfinite(from_f16(bits[i]))) {
            throw Error(
                fmt::format("{} holds {}, which is past the largest F16 (65504): save as F32", name, values[i]));
        }
    }
    std::memcpy(bytes.data(), bits.data(), bytes.size());
    return bytes;
}

}  // namespace

void load_parameters(Backend& backend, const std::string& file, Parameters& parameters) {
    const SafeTensorsFile tensors = SafeTensorsFile::open(file);
    for (const ParameterSpec& spec : parameters.table()) {
        if (!tensors.contains(spec.name)) {
            throw Error(fmt::format("{}: the tensor {} {} is missing; the configuration asks for it", file, spec.name,
                                    spec.shape.to_string()));
        }
        const MappedTensor found = tensors.at(spec.name);
        if (found.dtype != DType::F32 && found.dtype != DType::F16 && found.dtype != DType::BF16) {
            throw Error(fmt::format("{}: the tensor {} is {}; F32, F16 or BF16 was expected", file, spec.name,
                                    name_of(found.dtype)));
        }
        if (found.shape != spec.shape) {
            throw Error(fmt::format("{}: the tensor {} is {}; the configuration asks for {}", file, spec.name,
                                    found.shape.to_string(), spec.shape.to_string()));
        }
        load_one(backend, found, parameters.at(spec.name).value());
    }
    for (const SafeTensorsEntry& entry : tensors.entries()) {
        if (!parameters.has(entry.name)) {
            throw Error(
                fmt::format("{}: the tensor {} belongs to no parameter of the configuration", file, entry.name));
        }
    }
}

void save_parameters(Backend& backend, const std::string& file, const Parameters& parameters, DType dtype,
                     const std::string& metadata_json) {
    HEADSCOPE_CHECK(dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16,
                    std::string("parameters are saved as F32, F16 or BF16, not as ") + name_of(dtype));
    std::vector<std::vector<std::byte>> data;
    std::vector<TensorToWrite> tensors;
    for (const ParameterSpec& spec : parameters.table()) {
        data.push_back(narrow_values(to_host<float>(backend, parameters.at(spec.name).value()), dtype, spec.name));
        tensors.push_back({spec.name, dtype, spec.shape, data.back().data()});
    }
    std::map<std::string, std::string> metadata{{"format", "headscope"},
                                                {"format_version", std::to_string(ModelConfig::kFormatVersion)}};
    if (!metadata_json.empty()) {
        metadata["headscope"] = metadata_json;
    }
    write_safetensors(file, tensors, metadata);
}

}  // namespace headscope

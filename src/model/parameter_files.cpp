// Safetensors files of our own: their tensors, and how parameters are saved as such.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backend/convert.h"
#include "backend/quantisation.h"
#include "io/safetensors.h"
#include "model/model_directory.h"
#include "support/check.h"

namespace headscope {

namespace {

std::string scale_name(const std::string& weight) {
    return weight + ".scale";
}

class OwnWeights final : public WeightSource {
public:
    explicit OwnWeights(std::string file) : file_(std::move(file)) {}

    void read(const std::vector<ParameterSpec>& table, const TakeWeight& take) const override {
        const SafeTensorsFile tensors = SafeTensorsFile::open(file_);
        std::set<std::string> known;
        for (const ParameterSpec& spec : table) {
            if (!tensors.contains(spec.name)) {
                throw Error(fmt::format("{}: the tensor {} {} is missing, but the configuration needs it", file_,
                                        spec.name, spec.shape.to_string()));
            }
            const MappedTensor found = tensors.at(spec.name);
            known.insert(spec.name);
            if (found.dtype == DType::I8) {
                known.insert(scale_name(spec.name));
                const std::vector<float> widened = widened_rows(tensors, found);
                take(spec, {DType::F32, found.shape, std::as_bytes(std::span(widened)), file_, spec.name});
            } else {
                WeightValues values{found.dtype, found.shape, found.data, file_, spec.name};
                values.release = [&](std::span<const std::byte> part) { tensors.release(part); };
                take(spec, values);
            }
            tensors.release(found.data);
        }
        for (const SafeTensorsEntry& entry : tensors.entries()) {
            if (!known.contains(entry.name)) {
                throw Error(
                    fmt::format("{}: the tensor {} is not a parameter of the configuration", file_, entry.name));
            }
        }
    }

private:
    // I8 values times the scales of their rows, which are beside them.
    std::vector<float> widened_rows(const SafeTensorsFile& tensors, const MappedTensor& rounded) const {
        const MappedTensor scales = tensors.at(scale_name(rounded.name));
        if (scales.dtype != DType::F32 || rounded.shape.rank() != 2 || scales.shape != Shape{rounded.shape[0]}) {
            throw Error(fmt::format("{}: the tensor {} must be F32 [rows of {}], found {} {}", file_, scales.name,
                                    rounded.name, name_of(scales.dtype), scales.shape.to_string()));
        }
        std::vector<float> values(static_cast<std::size_t>(rounded.shape.elements()));
        const auto columns = static_cast<std::size_t>(rounded.shape[1]);
        for (std::size_t i = 0; i < values.size(); ++i) {
            float scale = 0.0F;
            std::memcpy(&scale, scales.data.data() + i / columns * sizeof(float), sizeof(float));
            values[i] = scale * static_cast<float>(static_cast<std::int8_t>(rounded.data[i]));
        }
        return values;
    }

    std::string file_;
};

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
                fmt::format("{} contains {}, which is above the largest F16, 65504: save as F32", name, values[i]));
        }
    }
    std::memcpy(bytes.data(), bits.data(), bytes.size());
    return bytes;
}

// The rows in I8, and their scales in F32.
std::pair<std::vector<std::byte>, std::vector<std::byte>> quantise(const std::vector<float>& values,
                                                                   const Shape& shape) {
    const auto rows = static_cast<std::size_t>(shape[0]);
    const std::size_t columns = rows == 0 ? 0 : values.size() / rows;
    std::vector<std::byte> rounded(values.size());
    std::vector<std::byte> scales(rows * sizeof(float));
    for (std::size_t row = 0; row < rows; ++row) {
        const float scale = quantise_row({values.data() + row * columns, columns},
                                         reinterpret_cast<std::int8_t*>(rounded.data() + row * columns));
        std::memcpy(scales.data() + row * sizeof(float), &scale, sizeof(float));
    }
    return {std::move(rounded), std::move(scales)};
}

}  // namespace

std::shared_ptr<const WeightSource> own_weights(const std::string& file) {
    return std::make_shared<OwnWeights>(file);
}

void save_parameters(Backend& backend, const std::string& file, const Parameters& parameters, DType dtype,
                     const std::string& metadata_json) {
    std::vector<std::vector<std::byte>> data;
    std::vector<TensorToWrite> tensors;
    const auto add = [&](const std::string& name, DType stored, const Shape& shape, std::vector<std::byte> bytes) {
        data.push_back(std::move(bytes));
        tensors.push_back({name, stored, shape, data.back().data()});
    };
    for (const ParameterSpec& spec : parameters.table()) {
        const DType held = parameters.stored(spec.name).dtype;
        HEADSCOPE_CHECK(held != DType::I8 && held != DType::I32, spec.name + " is quantised in memory");
        const auto values = to_host<float>(backend, parameters.stored(spec.name));
        if (dtype == DType::I8 && spec.multiplied) {
            auto [rounded, scales] = quantise(values, spec.shape);
            add(spec.name, DType::I8, spec.shape, std::move(rounded));
            add(scale_name(spec.name), DType::F32, Shape{spec.shape[0]}, std::move(scales));
        } else {
            const DType stored = dtype == DType::I8 ? DType::F32 : dtype;
            add(spec.name, stored, spec.shape, narrow_values(values, stored, spec.name));
        }
    }
    std::map<std::string, std::string> metadata{{"format", "headscope"},
                                                {"format_version", std::to_string(ModelConfig::kFormatVersion)}};
    if (!metadata_json.empty()) {
        metadata["headscope"] = metadata_json;
    }
    write_safetensors(file, tensors, metadata);
}

}  // namespace headscope

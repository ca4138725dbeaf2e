// Reads and writes parameters as safetensors files.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backend/convert.h"
#include "backend/quantisation.h"
#include "io/safetensors.h"
#include "model/model_directory.h"
#include "support/check.h"
#include "tensor/widen.h"

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
                take(spec, {found.dtype, found.shape, found.data, file_, spec.name});
            }
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

// Elements converted at a time, few enough to stay in the processor's cache.
constexpr std::size_t kPiece = std::size_t{1} << 15U;

// Converts any float dtype to Real. The file's data need not be aligned.
template <class Real>
void widen(DType dtype, const std::byte* from, std::span<Real> to) {
    if constexpr (std::is_same_v<Real, float>) {
        if (dtype == DType::F16 || dtype == DType::BF16) {
            return dtype == DType::F16 ? widen_f16(from, to) : widen_bf16(from, to);
        }
    }
    visit_stored(dtype, [&](auto stored) {
        for (std::size_t i = 0; i < to.size(); ++i) {
            std::memcpy(&stored, from + i * sizeof(stored), sizeof(stored));
            if constexpr (std::is_arithmetic_v<Real>) {
                to[i] = static_cast<Real>(stored);
            } else {
                to[i] = static_cast<double>(stored);
            }
        }
    });
}

// The index of the first element that is NaN or infinite (all bits of the exponent set), else the number of elements.
template <class Bits>
std::size_t first_not_finite(std::span<const std::byte> data, Bits exponent) {
    const std::size_t total = data.size() / sizeof(Bits);
    const auto is_bad = [&](std::size_t i) {
        Bits bits = 0;
        std::memcpy(&bits, data.data() + i * sizeof(Bits), sizeof(Bits));
        return (bits & exponent) == exponent;
    };
    for (std::size_t first = 0; first < total; first += kPiece) {
        const std::size_t end = std::min(first + kPiece, total);
        Bits any = 0;  // as wide as an element, and no early exit, so that the compiler vectorises the loop
        for (std::size_t i = first; i < end; ++i) {
            any |= static_cast<Bits>(is_bad(i));
        }
        for (std::size_t i = first; any != 0 && i < end; ++i) {
            if (is_bad(i)) {
                return i;
            }
        }
    }
    return total;
}

void check_finite(const WeightValues& values) {
    const std::size_t total = values.data.size() / size_of(values.dtype);
    const std::size_t found = values.dtype == DType::F32   ? first_not_finite<std::uint32_t>(values.data, 0x7f80'0000)
                              : values.dtype == DType::F16 ? first_not_finite<std::uint16_t>(values.data, 0x7c00)
                                                           : first_not_finite<std::uint16_t>(values.data, 0x7f80);
    if (found < total) {
        throw Error(
            fmt::format("{}: element {} of the tensor {} {} is NaN or infinite: the file is damaged, or the "
                        "training that wrote it diverged",
                        values.file, found, values.name, values.shape.to_string()));
    }
}

// Converts a tensor of the file piece by piece.
template <class Real>
void load_pieces(Backend& backend, const WeightValues& from, const Tensor& to) {
    const Tensor flat = to.reshape({to.elements()});
    const auto total = static_cast<std::size_t>(to.elements());
    std::vector<Real> piece(std::min(total, kPiece));
    for (std::size_t first = 0; first < total; first += kPiece) {
        const std::span<Real> values(piece.data(), std::min(kPiece, total - first));
        widen(from.dtype, from.data.data() + first * size_of(from.dtype), values);
        if constexpr (std::is_same_v<Real, StoredF16>) {
            if (!std::all_of(values.begin(), values.end(), [](Real value) { return std::isfinite(float{value}); })) {
                throw Error(
                    fmt::format("{}: the tensor {} contains a value above the largest F16, 65504: use bf16 or f32",
                                from.file, from.name));
            }
        }
        backend.upload(flat.narrow(0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(values.size())),
                       values.data(), values.size_bytes());
    }
}

// Straight from the mapping if nothing has to be converted.
void load_one(Backend& backend, const WeightValues& from, const Tensor& to) {
    if (from.dtype == to.dtype) {
        backend.upload(to, from.data.data(), from.data.size());
        return;
    }
    visit_stored(to.dtype, [&](auto stored) { load_pieces<decltype(stored)>(backend, from, to); });
}

// In I8, some rows at a time: as Parameters::store() does, without a second copy in F32.
void load_rounded(Backend& backend, const WeightValues& from, const Tensor& to, const Tensor& scales) {
    const std::int64_t rows = to.shape[0];
    const std::int64_t columns = rows == 0 ? 1 : to.elements() / rows;
    const std::int64_t at_once = std::max<std::int64_t>(static_cast<std::int64_t>(kPiece) / columns, 1);
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const auto count = static_cast<std::size_t>(std::min(at_once, rows - first));
        const auto width = static_cast<std::size_t>(columns);
        std::vector<float> values(count * width);
        std::vector<std::int8_t> rounded(values.size());
        std::vector<float> own(count);
        const std::size_t skipped = static_cast<std::size_t>(first) * width * size_of(from.dtype);
        widen(from.dtype, from.data.data() + skipped, std::span<float>(values));
        for (std::size_t row = 0; row < count; ++row) {
            own[row] = quantise_row({values.data() + row * width, width}, rounded.data() + row * width);
        }
        backend.upload(to.narrow(0, first, std::ssize(own)), rounded.data(), rounded.size());
        from_host(backend, scales.narrow(0, first, std::ssize(own)), own);
    }
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

void load_parameters(Backend& backend, const WeightSource& weights, Parameters& parameters) {
    weights.read(parameters.table(), [&](const ParameterSpec& spec, const WeightValues& found) {
        if (found.dtype != DType::F32 && found.dtype != DType::F16 && found.dtype != DType::BF16) {
            throw Error(fmt::format("{}: the tensor {} is {}, expected F32, F16 or BF16", found.file, found.name,
                                    name_of(found.dtype)));
        }
        if (found.shape != spec.shape) {
            throw Error(fmt::format("{}: the tensor {} is {}, but the configuration needs {}", found.file, found.name,
                                    found.shape.to_string(), spec.shape.to_string()));
        }
        check_finite(found);
        if (const Tensor to = parameters.stored(spec.name); to.dtype == DType::I8) {
            load_rounded(backend, found, to, parameters.at(spec.name).scales());
        } else {
            load_one(backend, found, to);
        }
    });
    parameters.refresh_working();
}

namespace {

// Reports a model that cannot fit before anything is allocated and read.
void require_memory(Backend& backend, const ModelDirectory& model, DType storage) {
    constexpr double kMega = 1e6;
    const std::uint64_t present = backend.device().memory_bytes;
    std::uint64_t needed = 0;
    for (const ParameterSpec& spec : describe(model.config).parameters) {
        needed += static_cast<std::uint64_t>(spec.shape.elements()) * size_of(spec.multiplied ? storage : DType::F32);
    }
    if (present > 0 && needed > present) {
        throw Error(
            fmt::format("{} needs {:.0f} MB for its weights as {}, but {} has {:.0f} MB: use a smaller --precision, "
                        "another device or a smaller model",
                        model.path, static_cast<double>(needed) / kMega, name_of(storage), backend.device().id,
                        static_cast<double>(present) / kMega));
    }
}

}  // namespace

std::shared_ptr<const Parameters> read_parameters(Backend& backend, const ModelDirectory& model, DType storage) {
    require_memory(backend, model, storage);
    auto parameters = std::make_shared<Parameters>(backend, model.config, false, storage);
    load_parameters(backend, *model.weights, *parameters);
    return parameters;
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
        HEADSCOPE_CHECK(parameters.stored(spec.name).dtype != DType::I8, spec.name + " is I8 in memory");
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

// Fills parameters from files, in the form in which they are held.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "backend/convert.h"
#include "backend/quantisation.h"
#include "model/model_directory.h"
#include "model/rows_in_blocks.h"
#include "support/check.h"
#include "tensor/widen.h"

namespace headscope {

namespace {

// What elements of a tensor, whole blocks if there are such, take in its file.
std::size_t bytes_of(const WeightValues& from, std::size_t elements) {
    return from.blocks == nullptr ? elements * size_of(from.dtype)
                                  : elements / from.blocks->elements * from.blocks->bytes;
}

// Lets go of what has been read of a tensor's file, so that file and weights are not both held.
class ReadPart {
public:
    explicit ReadPart(const WeightValues& from) : from_(from) {}

    void up_to(std::size_t elements) {
        constexpr std::size_t kAtOnce = std::size_t{1} << 22U;
        const std::size_t end = bytes_of(from_, elements);
        if (from_.release && end - begin_ >= kAtOnce) {
            from_.release(from_.data.subspan(begin_, end - begin_));
            begin_ = end;
        }
    }

private:
    const WeightValues& from_;
    std::size_t begin_ = 0;
};

// Elements converted at a time, few enough to stay in the processor's cache.
constexpr std::size_t kPiece = std::size_t{1} << 15U;

// Converts any float dtype to Real. The file's data need not be aligned.
template <class Real>
void widen_plain(DType dtype, const std::byte* from, std::span<Real> to) {
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

[[noreturn]] void bad_scale(const WeightValues& from) {
    throw Error(fmt::format("tensor '{}' in '{}' has a scale that is not a finite number", from.name, from.file));
}

// Elements from `first` on, of whole blocks if there are such.
template <class Real>
void widen(const WeightValues& from, std::size_t first, std::span<Real> to) {
    if (from.blocks == nullptr) {
        return widen_plain(from.dtype, from.data.data() + bytes_of(from, first), to);
    }
    std::vector<float> values(to.size());
    if (!unpack_blocks(*from.blocks, from.data.subspan(bytes_of(from, first), bytes_of(from, to.size())), values)) {
        bad_scale(from);
    }
    std::copy(values.begin(), values.end(), to.begin());
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
    if (values.blocks != nullptr) {
        return;  // found while unpacking
    }
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
    ReadPart read(from);
    for (std::size_t first = 0; first < total; first += kPiece) {
        const std::span<Real> values(piece.data(), std::min(kPiece, total - first));
        widen(from, first, values);
        if constexpr (std::is_same_v<Real, StoredF16>) {
            if (!std::all_of(values.begin(), values.end(), [](Real value) { return std::isfinite(float{value}); })) {
                throw Error(
                    fmt::format("{}: the tensor {} contains a value above the largest F16, 65504: use bf16 or f32",
                                from.file, from.name));
            }
        }
        backend.upload(flat.narrow(0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(values.size())),
                       values.data(), values.size_bytes());
        read.up_to(first + values.size());
    }
}

// Straight from the mapping if nothing has to be converted.
void load_one(Backend& backend, const WeightValues& from, const Tensor& to) {
    if (from.dtype == to.dtype && from.blocks == nullptr) {
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
    ReadPart read(from);
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const auto count = static_cast<std::size_t>(std::min(at_once, rows - first));
        const auto width = static_cast<std::size_t>(columns);
        std::vector<float> values(count * width);
        std::vector<std::int8_t> rounded(values.size());
        std::vector<float> own(count);
        widen(from, static_cast<std::size_t>(first) * width, std::span<float>(values));
        for (std::size_t row = 0; row < count; ++row) {
            own[row] = quantise_row({values.data() + row * width, width}, rounded.data() + row * width);
        }
        backend.upload(to.narrow(0, first, std::ssize(own)), rounded.data(), rounded.size());
        from_host(backend, scales.narrow(0, first, std::ssize(own)), own);
        read.up_to(static_cast<std::size_t>(first) * width + values.size());
    }
}

// One block of the file as blocks of our own.
void add_block(const WeightValues& from, const std::byte* block, RowsInBlocks& to) {
    std::array<CodedBlock, kMostGgufParts> parts;
    from.blocks->code(reinterpret_cast<const std::uint8_t*>(block), parts.data());
    for (const CodedBlock& part : std::span(parts).first(from.blocks->elements / kBlockColumns)) {
        if (!is_finite(part)) {
            bad_scale(from);
        }
        to.add(part);
    }
}

// In blocks of our own: those of the file where they keep every value, else quantised, some rows at a time.
void load_blocks(Backend& backend, const WeightValues& from, const Var& to, const BlockForm& form) {
    const std::int64_t rows = to.shape()[0];
    const std::int64_t columns = to.shape()[1];
    const bool kept =
        from.blocks != nullptr && from.blocks->form.bits <= form.bits && (form.factors || !from.blocks->form.factors);
    const std::int64_t at_once =
        std::max<std::int64_t>(static_cast<std::int64_t>(kPiece) / std::max<std::int64_t>(columns, 1), 1);
    const auto width = static_cast<std::size_t>(columns);
    const std::int64_t blocks_in_row = kept ? columns / static_cast<std::int64_t>(from.blocks->elements) : 0;
    RowsInBlocks piece(columns, form);
    std::vector<float> values(kept ? 0 : width);
    const std::byte* block = from.data.data();
    ReadPart read(from);
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const std::int64_t end = std::min(first + at_once, rows);
        for (std::int64_t i = 0; kept && i < (end - first) * blocks_in_row; ++i, block += from.blocks->bytes) {
            add_block(from, block, piece);
        }
        for (std::int64_t row = first; !kept && row < end; ++row) {
            widen(from, static_cast<std::size_t>(row) * width, std::span(values));
            if (!piece.quantise(values)) {
                throw Error(
                    fmt::format("{}: the tensor {} has numbers that are too large for blocks of {} bits, whose "
                                "scales are F16: use --precision f32",
                                from.file, from.name, form.bits));
            }
        }
        piece.upload(backend, to, first);
        read.up_to(static_cast<std::size_t>(end) * width);
    }
}

}  // namespace

void load_parameters(Backend& backend, const WeightSource& weights, Parameters& parameters) {
    load_parameters(backend, weights, parameters.table(), parameters);
}

void load_parameters(Backend& backend, const WeightSource& weights, const std::vector<ParameterSpec>& table,
                     Parameters& parameters) {
    weights.read(table, [&](const ParameterSpec& spec, const WeightValues& found) {
        if (found.dtype != DType::F32 && found.dtype != DType::F16 && found.dtype != DType::BF16) {
            throw Error(fmt::format("{}: the tensor {} is {}, expected F32, F16 or BF16", found.file, found.name,
                                    name_of(found.dtype)));
        }
        if (found.shape != spec.shape) {
            throw Error(fmt::format("{}: the tensor {} is {}, but the configuration needs {}", found.file, found.name,
                                    found.shape.to_string(), spec.shape.to_string()));
        }
        check_finite(found);
        if (const BlockForm form = parameters.block_form(spec.name); form.bits > 0) {
            load_blocks(backend, found, parameters.at(spec.name), form);
        } else if (const Tensor to = parameters.stored(spec.name); to.dtype == DType::I8) {
            load_rounded(backend, found, to, parameters.at(spec.name).scales());
        } else {
            load_one(backend, found, to);
        }
    });
    parameters.refresh_working();
}

namespace {

// Reports a model that cannot fit before anything is allocated and read.
void require_memory(Backend& backend, const ModelDirectory& model, const WeightStorage& storage,
                    const BlocksInFile& in_file) {
    constexpr double kMega = 1e6;
    const std::uint64_t present = backend.device().memory_bytes;
    std::uint64_t needed = 0;
    const std::vector<ParameterSpec> table = describe(model.config).parameters;
    const std::vector<BlockForm> forms = block_forms(table, storage, in_file);
    for (std::size_t i = 0; i < table.size(); ++i) {
        const Shape& shape = table[i].shape;
        const std::size_t each = size_of(table[i].multiplied ? storage.dtype : DType::F32);
        const BlockForm& form = forms[i];
        needed += form.bits == 0 ? static_cast<std::uint64_t>(shape.elements()) * each
                                 : static_cast<std::uint64_t>(shape[0] * (scale_words(shape[1], form.factors) +
                                                                          code_words(shape[1], form.bits))) *
                                       sizeof(std::uint32_t);
    }
    if (present > 0 && needed > present) {
        const bool in_blocks = std::ranges::any_of(forms, [](const BlockForm& form) { return form.bits > 0; });
        throw Error(
            fmt::format("{} needs {:.0f} MB for its weights{}, but {} has {:.0f} MB: use a smaller --precision, "
                        "another device or a smaller model",
                        model.path, static_cast<double>(needed) / kMega,
                        in_blocks ? " in blocks" : fmt::format(" as {}", name_of(storage.dtype)), backend.device().id,
                        static_cast<double>(present) / kMega));
    }
}

}  // namespace

BlocksInFile blocks_in_file(const ModelDirectory& model) {
    BlocksInFile forms;
    for (const auto& [name, type] : model.weights->in_blocks(describe(model.config).parameters)) {
        forms.emplace(name, type->form);
    }
    return forms;
}

std::shared_ptr<const Parameters> read_parameters(Backend& backend, const ModelDirectory& model,
                                                  const WeightStorage& storage) {
    const BlocksInFile in_file = blocks_in_file(model);
    require_memory(backend, model, storage, in_file);
    auto parameters = std::make_shared<Parameters>(backend, model.config, false, storage, in_file);
    load_parameters(backend, *model.weights, *parameters);
    if (storage.packs) {
        parameters->pack();
    }
    return parameters;
}

}  // namespace headscope

#include "io/tensor_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "io/missing_tensor.h"
#include "io/safetensors_header.h"
#include "support/check.h"

namespace headscope {

namespace {

[[noreturn]] void tensor_error(const StoredTensor& tensor, const std::string& problem) {
    throw Error(fmt::format("tensor '{}' in '{}' {}", tensor.name, tensor.file, problem));
}

bool row_major(const StoredTensor& tensor) {
    std::int64_t step = 1;
    for (std::size_t dim = tensor.strides.size(); dim-- > 0;) {
        if (tensor.shape[dim] != 1 && tensor.strides[dim] != step) {
            return false;
        }
        step *= tensor.shape[dim];
    }
    return true;
}

// The number of elements. Error unless all of them, at their strides, lie within `available` bytes; unless the size of
// the dtype is unknown.
std::int64_t checked_elements(const StoredTensor& tensor, std::size_t available) {
    const std::size_t size = safetensors_bits(tensor.dtype) / 8;
    if (!tensor.strides.empty() && tensor.strides.size() != tensor.shape.size()) {
        tensor_error(tensor,
                     fmt::format("has {} dimensions but {} strides", tensor.shape.size(), tensor.strides.size()));
    }
    std::int64_t elements = 1;
    std::int64_t last = 0;  // the farthest element
    bool overflow = false;
    for (std::size_t dim = tensor.shape.size(); dim-- > 0;) {
        const std::int64_t stride = tensor.strides.empty() ? elements : tensor.strides[dim];
        if (tensor.shape[dim] < 0 || stride < 0) {
            tensor_error(tensor, fmt::format("has the shape [{}] and the strides [{}], expected no negative numbers",
                                             fmt::join(tensor.shape, ", "), fmt::join(tensor.strides, ", ")));
        }
        std::int64_t reach = 0;
        overflow = __builtin_mul_overflow(std::max<std::int64_t>(tensor.shape[dim] - 1, 0), stride, &reach) ||
                   __builtin_add_overflow(last, reach, &last) ||
                   __builtin_mul_overflow(elements, tensor.shape[dim], &elements) || overflow;
    }
    if (elements == 0 && !overflow) {
        return 0;
    }
    const auto room = static_cast<std::int64_t>(available / std::max<std::size_t>(size, 1));
    if (overflow || (size != 0 && last >= room)) {
        tensor_error(tensor, fmt::format("is {} [{}], which does not fit in its {} bytes of data", tensor.dtype,
                                         fmt::join(tensor.shape, ", "), available));
    }
    return elements;
}

// Row-major and little-endian.
HeldBytes gathered(const StoredTensor& tensor, const HeldBytes& from, std::size_t bytes) {
    const std::size_t size = safetensors_bits(tensor.dtype) / 8;
    auto to = std::make_shared<std::vector<std::byte>>(bytes);
    std::vector<std::int64_t> at(tensor.shape.size());
    std::int64_t element = 0;
    for (std::size_t written = 0; written < bytes; written += size) {
        const std::byte* source = from.bytes.data() + static_cast<std::size_t>(element) * size;
        std::byte* target = to->data() + written;
        if (tensor.big_endian) {
            std::reverse_copy(source, source + size, target);
        } else {
            std::memcpy(target, source, size);
        }
        std::int64_t row_major_stride = 1;
        for (std::size_t dim = at.size(); dim-- > 0;) {
            const std::int64_t stride = tensor.strides.empty() ? row_major_stride : tensor.strides[dim];
            row_major_stride *= tensor.shape[dim];
            if (tensor.shape[dim] == 1) {
                continue;  // its stride may be any number
            }
            element += stride;
            if (++at[dim] < tensor.shape[dim]) {
                break;
            }
            element -= stride * std::exchange(at[dim], 0);
        }
    }
    return {*to, to};
}

template <class From, class Convert>
HeldBytes converted(const HeldBytes& from, Convert convert) {
    using To = std::invoke_result_t<Convert, From, std::size_t>;
    const std::size_t elements = from.bytes.size() / sizeof(From);
    auto to = std::make_shared<std::vector<To>>(elements);
    for (std::size_t element = 0; element < elements; ++element) {
        From value{};
        std::memcpy(&value, from.bytes.data() + element * sizeof(From), sizeof(From));
        (*to)[element] = convert(value, element);
    }
    return {std::as_bytes(std::span(*to)), to};
}

template <class From>
HeldBytes to_i32(const StoredTensor& tensor, const HeldBytes& from) {
    return converted<From>(from, [&](From value, std::size_t element) {
        if (!std::in_range<std::int32_t>(value)) {
            tensor_error(tensor,
                         fmt::format("has the value {} at element {}, which does not fit in 32 bits", value, element));
        }
        return static_cast<std::int32_t>(value);
    });
}

template <class From>
HeldBytes unscaled(const StoredTensor& tensor, const HeldBytes& from) {
    const std::size_t elements = from.bytes.size() / sizeof(From);
    const std::size_t each = std::max<std::size_t>(elements / tensor.scales.size(), 1);
    return converted<From>(from, [&](From value, std::size_t element) {
        return static_cast<float>(value) / tensor.scales[element / each];
    });
}

Shape shape_of(const StoredTensor& tensor) {
    const std::vector<std::int64_t>& dims = tensor.shape;
    switch (dims.size()) {
        case 0: return {};
        case 1: return {dims[0]};
        case 2: return {dims[0], dims[1]};
        case 3: return {dims[0], dims[1], dims[2]};
        case 4: return {dims[0], dims[1], dims[2], dims[3]};
        default:
            tensor_error(tensor, fmt::format("has {} dimensions; Headscope reads up to {}", dims.size(), kMaxRank));
    }
}

void check_scales(const StoredTensor& tensor) {
    const std::vector<float>& scales = tensor.scales;
    if (scales.empty()) {
        return;
    }
    if (scales.size() != 1 && (tensor.shape.empty() || std::cmp_not_equal(tensor.shape[0], scales.size()))) {
        tensor_error(tensor, fmt::format("has {} scales for the shape [{}], expected one, or one per row",
                                         scales.size(), fmt::join(tensor.shape, ", ")));
    }
    if (!std::all_of(scales.begin(), scales.end(), [](float scale) { return std::isfinite(scale) && scale != 0.0F; })) {
        tensor_error(tensor, "has a scale that is 0 or not a finite number");
    }
}

}  // namespace

TensorArchive::TensorArchive(std::string path, std::vector<StoredTensor> tensors, nlohmann::json objects)
    : path_(std::move(path)), tensors_(std::move(tensors)), objects_(std::move(objects)) {
    for (std::size_t position = 0; position < tensors_.size(); ++position) {
        const StoredTensor& tensor = tensors_[position];
        const auto [known, inserted] = index_.emplace(tensor.name, position);
        if (!inserted) {
            const std::string& other = tensors_[known->second].file;
            throw Error(fmt::format("'{}' holds the tensor '{}' twice{}", tensor.file, tensor.name,
                                    other == tensor.file ? "" : ": it is also in '" + other + "'"));
        }
        if (!tensor.unpack) {
            checked_elements(tensor, tensor.data.bytes.size());
        }
        check_scales(tensor);
    }
}

std::vector<std::string> TensorArchive::names() const {
    std::vector<std::string> names;
    names.reserve(tensors_.size());
    for (const StoredTensor& tensor : tensors_) {
        names.push_back(tensor.name);
    }
    return names;
}

const StoredTensor& TensorArchive::entry(const std::string& name) const {
    const auto found = index_.find(name);
    if (found == index_.end()) {
        missing_tensor(path_, name, names());
    }
    return tensors_[found->second];
}

void TensorArchive::release(const std::string& name) const {
    if (const StoredTensor& tensor = entry(name); tensor.release) {
        tensor.release(tensor.data.bytes);
    }
}

ArchiveTensor TensorArchive::at(const std::string& name) const {
    const StoredTensor& tensor = entry(name);
    const Shape shape = shape_of(tensor);
    HeldBytes data = tensor.unpack ? tensor.unpack() : tensor.data;
    const auto elements = static_cast<std::uint64_t>(checked_elements(tensor, data.bytes.size()));
    const std::size_t size = safetensors_bits(tensor.dtype) / 8;
    if (size != 0 && elements > data.bytes.size() / size) {  // keeps a few bytes from unfolding into terabytes
        tensor_error(tensor, fmt::format("repeats its {} bytes of data for the shape {}, which is not supported",
                                         data.bytes.size(), shape.to_string()));
    }
    const std::size_t bytes = static_cast<std::size_t>(elements) * size;
    if (tensor.big_endian || !row_major(tensor)) {
        data = gathered(tensor, data, bytes);
    }
    data.bytes = data.bytes.first(bytes);
    const auto result = [&](DType dtype, HeldBytes held) {
        return ArchiveTensor{dtype, shape, held.bytes, std::move(held.owner)};
    };
    const bool quantized = !tensor.scales.empty();
    const std::string& dtype = tensor.dtype;
    for (const DType same : {DType::F32, DType::F16, DType::BF16, DType::I8, DType::I32}) {
        if (dtype == name_of(same) && !quantized) {
            return result(same, data);
        }
    }
    if (dtype == "F64") {
        return result(DType::F32, converted<double>(data, [](double value, std::size_t /*element*/) {
                          return static_cast<float>(value);
                      }));
    }
    if (quantized && dtype == "I8") {
        return result(DType::F32, unscaled<std::int8_t>(tensor, data));
    }
    if (quantized && dtype == "I16") {
        return result(DType::F32, unscaled<std::int16_t>(tensor, data));
    }
    static const std::array<std::pair<const char*, HeldBytes (*)(const StoredTensor&, const HeldBytes&)>, 7> kIntegers{
        {{"BOOL", &to_i32<std::uint8_t>},
         {"U8", &to_i32<std::uint8_t>},
         {"I16", &to_i32<std::int16_t>},
         {"U16", &to_i32<std::uint16_t>},
         {"U32", &to_i32<std::uint32_t>},
         {"I64", &to_i32<std::int64_t>},
         {"U64", &to_i32<std::uint64_t>}}};
    for (const auto& [integer, convert] : kIntegers) {
        if (dtype == integer && !quantized) {
            return result(DType::I32, convert(tensor, data));
        }
    }
    tensor_error(tensor,
                 fmt::format("has the {}dtype {}, which is not supported", quantized ? "quantized " : "", dtype));
}

}  // namespace headscope

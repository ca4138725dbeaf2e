#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

#include "io/byte_reader.h"
#include "io/mapped_file.h"
#include "io/npy_header.h"
#include "io/safetensors_header.h"
#include "io/tensor_archive.h"
#include "io/zip_reader.h"
#include "support/check.h"
#include "support/utf8.h"

namespace headscope {

namespace {

[[noreturn]] void array_error(const std::string& path, const std::string& name, const std::string& problem) {
    throw Error(fmt::format("the array '{}' in '{}' cannot be read: {}", name, path, problem));
}

std::vector<std::int64_t> column_major_strides(const std::vector<std::int64_t>& shape, std::uint64_t elements) {
    std::vector<std::int64_t> strides;
    std::int64_t step = 1;
    for (const std::int64_t size : shape) {
        strides.push_back(step);
        step = elements == 0 ? 0 : step * size;
    }
    return strides;
}

// The number of bytes of `shape`. Error if it is not what the entry holds.
std::uint64_t checked_elements(const NpyHeader& header, const ZipEntry& entry) {
    const std::uint64_t size = safetensors_bits(header.dtype) / 8;
    std::uint64_t bytes = size;
    bool overflow = false;
    for (const std::int64_t dim : header.shape) {
        overflow = __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes) || overflow;
    }
    if (size != 0 && (overflow || bytes != entry.size - header.data_begin)) {
        throw Error(fmt::format("it is {} [{}], which does not match its {} bytes of data", header.dtype,
                                fmt::join(header.shape, ", "), entry.size - header.data_begin));
    }
    return size == 0 ? 0 : bytes / size;
}

StoredTensor array_of(const ZipReader& zip, const ZipEntry& entry, const std::string& path, const std::string& name) {
    const NpyHeader header = parse_npy_header(zip.beginning(entry, kNpyHeaderBytes).bytes);
    StoredTensor tensor;
    tensor.name = name;
    tensor.file = path;
    tensor.dtype = header.dtype;
    tensor.shape = header.shape;
    tensor.big_endian = header.big_endian;
    const std::uint64_t elements = checked_elements(header, entry);
    if (header.fortran_order) {
        tensor.strides = column_major_strides(header.shape, elements);
    }
    tensor.unpack = [zip, &entry, begin = header.data_begin] {
        HeldBytes held = zip.read(entry);
        held.bytes = held.bytes.subspan(begin);
        return held;
    };
    return tensor;
}

// Marian's configuration: int8, ends with NUL.
std::string text_of(const StoredTensor& tensor) {
    if (tensor.dtype != "I8" && tensor.dtype != "U8") {
        throw Error(fmt::format("it has the dtype {}, expected text in I8", tensor.dtype));
    }
    const HeldBytes held = tensor.unpack();
    const std::string_view bytes = as_text(held.bytes);
    const std::string_view text = bytes.substr(0, bytes.find('\0'));
    if (first_invalid_utf8(text)) {
        throw Error("it is not UTF-8 text");
    }
    return std::string(text);
}

}  // namespace

TensorArchive open_npz_archive(const std::string& path) {
    constexpr std::string_view kSuffix = ".npy";
    const auto file = std::make_shared<const MappedFile>(path);
    if (!ZipReader::is_zip(file->bytes())) {
        throw Error(fmt::format("'{}' is not an .npz file: it does not begin as a zip archive does", path));
    }
    const ZipReader zip(path, file);
    std::vector<StoredTensor> tensors;
    auto objects = nlohmann::json::object();
    for (const ZipEntry& entry : zip.entries()) {
        if (!entry.name.ends_with(kSuffix)) {
            throw Error(fmt::format("'{}' is not an .npz file: it holds '{}', expected names that end in .npy", path,
                                    entry.name));
        }
        const std::string name = entry.name.substr(0, entry.name.size() - kSuffix.size());
        try {
            StoredTensor tensor = array_of(zip, entry, path, name);
            if (name.starts_with("special:")) {
                objects[name] = text_of(tensor);
            } else {
                tensors.push_back(std::move(tensor));
            }
        } catch (const Error& error) {
            array_error(path, name, error.what());
        }
    }
    return {path, std::move(tensors), std::move(objects)};
}

}  // namespace headscope

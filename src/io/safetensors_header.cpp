#include "io/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "support/check.h"

namespace headscope {

namespace {

constexpr std::size_t kLengthBytes = 8;
// The format's limit. It keeps a damaged length from allocating all memory.
constexpr std::uint64_t kLargestHeader = 100'000'000;

[[noreturn]] void fail(const std::string& path, const std::string& problem) {
    throw Error(fmt::format("'{}' is not a valid safetensors file: {}; fetch or write it again", path, problem));
}

// A SAX parser that accepts only the structure of the format, so that a hostile header costs no more memory than its
// own size: {"__metadata__": {text: text}, name: {"dtype": text, "shape": [n], "data_offsets": [b, e]}}
class HeaderReader {
public:
    using json = nlohmann::json;
    struct Tensor {
        SafeTensorsEntry entry;
        std::vector<std::uint64_t> offsets;
        std::set<std::string> fields;
    };

    explicit HeaderReader(const std::string& path) : path_(path) {}

    std::vector<Tensor>& tensors() { return tensors_; }
    std::map<std::string, std::string>& metadata() { return metadata_; }

    bool null() { unexpected("null"); }
    bool boolean(bool /*value*/) { unexpected("true or false"); }
    bool number_integer(json::number_integer_t value) { unexpected(fmt::format("the negative number {}", value)); }
    bool number_float(json::number_float_t /*value*/, const std::string& text) {
        unexpected(fmt::format("the number {}, which is not an integer or too large", text));
    }
    bool binary(json::binary_t& /*value*/) { unexpected("binary data"); }

    bool number_unsigned(json::number_unsigned_t value) {
        if (place_ == Place::Shape && value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            tensors_.back().entry.shape.push_back(static_cast<std::int64_t>(value));
        } else if (place_ == Place::Offsets) {
            tensors_.back().offsets.push_back(value);
        } else {
            unexpected(fmt::format("the number {}", value));
        }
        return true;
    }

    bool string(std::string& value) {
        if (place_ == Place::Metadata) {
            metadata_[key_] = std::move(value);
        } else if (place_ == Place::Tensor && key_ == "dtype") {
            tensors_.back().entry.dtype = std::move(value);
        } else {
            unexpected("text");
        }
        return true;
    }

    bool start_object(std::size_t /*elements*/) {
        switch (place_) {
            case Place::Start: place_ = Place::Top; return true;
            case Place::Top: place_ = key_ == "__metadata__" ? Place::Metadata : Place::Tensor; return true;
            default: unexpected("an object");
        }
    }

    bool end_object() {
        if (place_ == Place::Tensor) {
            for (const char* field : {"dtype", "shape", "data_offsets"}) {
                if (!tensors_.back().fields.contains(field)) {
                    fail(path_, fmt::format("tensor '{}' has no field '{}'", name_, field));
                }
            }
        }
        place_ = place_ == Place::Top ? Place::End : Place::Top;
        return true;
    }

    bool start_array(std::size_t /*elements*/) {
        if (place_ == Place::Tensor && key_ == "shape") {
            place_ = Place::Shape;
        } else if (place_ == Place::Tensor && key_ == "data_offsets") {
            place_ = Place::Offsets;
        } else {
            unexpected("an array");
        }
        return true;
    }

    bool end_array() {
        place_ = Place::Tensor;
        return true;
    }

    bool key(std::string& value) {
        if (place_ == Place::Top) {
            name_ = value;
            if (!names_.insert(value).second) {
                fail(path_, fmt::format("the name '{}' occurs twice", value));
            }
            if (value != "__metadata__") {
                tensors_.push_back({});
                tensors_.back().entry.name = value;
            }
        } else if (place_ == Place::Metadata) {
            if (metadata_.contains(value)) {
                fail(path_, fmt::format("the metadata name '{}' occurs twice", value));
            }
        } else {
            if (value != "dtype" && value != "shape" && value != "data_offsets") {
                fail(path_, fmt::format("tensor '{}' has the unknown field '{}'", name_, value));
            }
            if (!tensors_.back().fields.insert(value).second) {
                fail(path_, fmt::format("tensor '{}' has the field '{}' twice", name_, value));
            }
        }
        key_ = std::move(value);
        return true;
    }

    bool parse_error(std::size_t position, const std::string& /*token*/, const json::exception& error) {
        fail(path_, fmt::format("its header is broken JSON near byte {}: {}", kLengthBytes + position, error.what()));
    }

private:
    enum class Place : std::uint8_t { Start, Top, Metadata, Tensor, Shape, Offsets, End };

    [[noreturn]] void unexpected(const std::string& what) const {
        switch (place_) {
            case Place::Metadata: fail(path_, fmt::format("the metadata entry '{}' is {}, expected text", key_, what));
            case Place::Tensor:
            case Place::Shape:
            case Place::Offsets: fail(path_, fmt::format("in tensor '{}' the field '{}' is {}", name_, key_, what));
            case Place::Top: fail(path_, fmt::format("'{}' is {}, expected a tensor's object", name_, what));
            default: fail(path_, fmt::format("its header is {}, expected a JSON object", what));
        }
    }

    const std::string& path_;
    Place place_ = Place::Start;
    std::string name_, key_;
    std::set<std::string> names_;
    std::vector<Tensor> tensors_;
    std::map<std::string, std::string> metadata_;
};

// bytes = elements * bits / 8; false if that overflows or is not a whole number of bytes.
bool expected_bytes(const SafeTensorsEntry& entry, std::uint64_t& bytes) {
    std::uint64_t bits = safetensors_bits(entry.dtype);
    for (const std::int64_t dim : entry.shape) {
        if (__builtin_mul_overflow(bits, static_cast<std::uint64_t>(dim), &bits)) {
            return false;
        }
    }
    bytes = bits / 8;
    return bits % 8 == 0;
}

// `data` is the position of offset 0 in the file, `data_bytes` the number of bytes from there to the end.
SafeTensorsEntry locate(HeaderReader::Tensor& tensor, std::size_t data, std::size_t data_bytes,
                        const std::string& path) {
    SafeTensorsEntry& entry = tensor.entry;
    if (tensor.offsets.size() != 2 || tensor.offsets[0] > tensor.offsets[1]) {
        fail(path, fmt::format("tensor '{}' has the data_offsets [{}], expected [begin, end] with begin <= end",
                               entry.name, fmt::join(tensor.offsets, ", ")));
    }
    if (tensor.offsets[1] > data_bytes) {
        fail(path,
             fmt::format("tensor '{}' ends at byte {} of the data, but the file has {}: it is truncated or damaged",
                         entry.name, tensor.offsets[1], data_bytes));
    }
    entry.begin = data + static_cast<std::size_t>(tensor.offsets[0]);
    entry.bytes = static_cast<std::size_t>(tensor.offsets[1] - tensor.offsets[0]);
    if (safetensors_bits(entry.dtype) != 0) {
        std::uint64_t expected = 0;
        if (!expected_bytes(entry, expected) || expected != entry.bytes) {
            fail(path, fmt::format("tensor '{}' is {} [{}], which does not match its {} bytes of data", entry.name,
                                   entry.dtype, fmt::join(entry.shape, ", "), entry.bytes));
        }
    }
    return std::move(entry);
}

// Checks that every byte of the data belongs to exactly one tensor.
void check_cover(const std::vector<SafeTensorsEntry>& entries, std::size_t data, std::size_t end,
                 const std::string& path) {
    std::size_t at = data;
    std::string before = "the header";
    for (const SafeTensorsEntry& entry : entries) {
        if (entry.begin != at) {
            fail(path, fmt::format("tensor '{}' {} {}", entry.name,
                                   entry.begin < at ? "overlaps" : "leaves a hole after", before));
        }
        at = entry.begin + entry.bytes;
        before = fmt::format("'{}'", entry.name);
    }
    if (at != end) {
        fail(path, fmt::format("{} bytes after {} do not belong to a tensor", end - at, before));
    }
}

}  // namespace

std::size_t safetensors_bits(const std::string& dtype) {
    static constexpr std::array<std::pair<std::string_view, std::size_t>, 21> kBits{{
        {"BOOL", 8}, {"U8", 8},   {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
        {"I16", 16}, {"U16", 16}, {"F16", 16}, {"BF16", 16},   {"I32", 32},    {"U32", 32},    {"F32", 32},
        {"I64", 64}, {"U64", 64}, {"F64", 64}, {"C64", 64},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},
    }};
    const auto* found =
        std::find_if(kBits.begin(), kBits.end(), [&](const auto& known) { return known.first == dtype; });
    return found == kBits.end() ? 0 : found->second;
}

SafeTensorsHeader parse_safetensors_header(std::span<const std::byte> file, const std::string& path) {
    if (file.size() < kLengthBytes) {
        fail(path, fmt::format("it has {} bytes, but the header length alone takes {}", file.size(), kLengthBytes));
    }
    std::uint64_t length = 0;  // little-endian in the file
    for (std::size_t byte = kLengthBytes; byte-- > 0;) {
        length = (length << 8U) | std::to_integer<std::uint64_t>(file[byte]);
    }
    if (length > kLargestHeader) {
        fail(path, fmt::format("its header claims {} bytes, the format allows {}", length, kLargestHeader));
    }
    if (length > file.size() - kLengthBytes) {
        fail(path, fmt::format("its header claims {} bytes, but only {} follow: it is truncated", length,
                               file.size() - kLengthBytes));
    }
    const std::size_t data = kLengthBytes + static_cast<std::size_t>(length);
    const auto* text = reinterpret_cast<const char*>(file.data()) + kLengthBytes;
    if (length == 0 || text[0] != '{') {
        fail(path, "its header does not begin with '{'");
    }
    HeaderReader reader(path);
    nlohmann::json::sax_parse(text, text + length, &reader);

    SafeTensorsHeader header;
    header.metadata = std::move(reader.metadata());
    for (HeaderReader::Tensor& tensor : reader.tensors()) {
        header.entries.push_back(locate(tensor, data, file.size() - data, path));
    }
    // An empty tensor shares its offset with the next one and sorts before it.
    std::stable_sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
        return std::pair(a.begin, a.bytes) < std::pair(b.begin, b.bytes);
    });
    check_cover(header.entries, data, file.size(), path);
    return header;
}

}  // namespace headscope

#include "io/gguf_header.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/byte_reader.h"
#include "support/check.h"
#include "support/utf8.h"

namespace headscope {

namespace {

using nlohmann::json;

constexpr std::uint32_t kOldest = 2, kNewest = 3;
constexpr std::uint32_t kMostDimensions = 4;
constexpr std::uint64_t kUsualAlignment = 32;
constexpr std::uint64_t kLongestKey = 65535;
// Of all lists of a file together: in memory, each element takes more than in the file.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 24U;
constexpr const char* kAlignment = "general.alignment";

// Types of values.
enum class Kind : std::uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, List, U64, I64, F64 };

class HeaderReader {
public:
    HeaderReader(std::span<const std::byte> file, const std::string& path) : file_(file), in_(file), path_(path) {}

    GgufHeader read() {
        read_magic();
        const auto tensors = in_.number<std::uint64_t>();
        const auto values = in_.number<std::uint64_t>();
        for (std::uint64_t i = 0; i < values; ++i) {
            read_pair();
        }
        for (std::uint64_t i = 0; i < tensors; ++i) {
            read_entry();
        }
        place_entries();
        return std::move(header_);
    }

private:
    [[noreturn]] void reject(const std::string& problem) const {
        throw Error(fmt::format("'{}' cannot be read as a GGUF file: {}", path_, problem));
    }

    void read_magic() {
        if (in_.text(4) != "GGUF") {
            reject("it does not begin with GGUF");
        }
        const auto version = in_.number<std::uint32_t>();
        if (version == 1) {
            reject("it has version 1 of the format, which llama.cpp no longer reads either: convert the model again");
        }
        if ((version & 0xffffU) == 0) {
            reject("its numbers are big-endian; only little-endian files are supported");
        }
        if (version < kOldest || version > kNewest) {
            reject(fmt::format("it has version {} of the format; supported are {} and {}", version, kOldest, kNewest));
        }
    }

    // `what` and `key` are for messages.
    std::string string(std::string_view what, std::string_view key = "",
                       std::uint64_t longest = std::numeric_limits<std::uint64_t>::max()) {
        const auto length = in_.number<std::uint64_t>();
        const std::string_view text = in_.text(length);
        if (length > longest) {
            reject(fmt::format("{} has {} bytes, expected at most {}", what, length, longest));
        }
        if (first_invalid_utf8(text)) {
            reject(key.empty() ? fmt::format("{} is not UTF-8", what)
                               : fmt::format("{} of \"{}\" is not UTF-8", what, key));
        }
        return std::string(text);
    }

    template <class Stored, class Value>
    json number() {
        return std::bit_cast<Value>(in_.number<Stored>());
    }

    json value(Kind kind, const std::string& key) {
        switch (kind) {
            case Kind::U8: return in_.number<std::uint8_t>();
            case Kind::I8: return number<std::uint8_t, std::int8_t>();
            case Kind::U16: return in_.number<std::uint16_t>();
            case Kind::I16: return number<std::uint16_t, std::int16_t>();
            case Kind::U32: return in_.number<std::uint32_t>();
            case Kind::I32: return number<std::uint32_t, std::int32_t>();
            case Kind::F32: return number<std::uint32_t, float>();
            case Kind::Bool: return boolean(key);
            case Kind::String: return string("a text", key);
            case Kind::U64: return in_.number<std::uint64_t>();
            case Kind::I64: return number<std::uint64_t, std::int64_t>();
            case Kind::F64: return number<std::uint64_t, double>();
            case Kind::List: break;
        }
        reject(fmt::format("\"{}\" has a value of type {}, which does not exist or is a list in a list", key,
                           static_cast<std::uint32_t>(kind)));
    }

    json boolean(const std::string& key) {
        const auto byte = in_.number<std::uint8_t>();
        if (byte > 1) {
            reject(fmt::format("\"{}\" is the byte {}, expected 0 or 1", key, byte));
        }
        return byte == 1;
    }

    json list(const std::string& key) {
        const Kind kind{in_.number<std::uint32_t>()};
        const auto count = in_.number<std::uint64_t>();
        if (count > kMostElements - elements_) {
            reject(fmt::format("\"{}\" has {} elements after {} of other lists, expected at most {} in all", key, count,
                               elements_, kMostElements));
        }
        elements_ += count;
        json values = json::array();
        for (std::uint64_t i = 0; i < count; ++i) {
            values.push_back(value(kind, key));
        }
        return values;
    }

    void read_pair() {
        const std::string key = string("a key", "", kLongestKey);
        const Kind kind{in_.number<std::uint32_t>()};
        json read = kind == Kind::List ? list(key) : value(kind, key);
        if (!header_.metadata.emplace(key, std::move(read)).second) {
            reject(fmt::format("the key \"{}\" occurs twice", key));
        }
    }

    // With the place of its data in `begin`, counted from that of all data.
    void read_entry() {
        GgufEntry entry{.name = string("the name of a tensor"), .type = nullptr, .shape = {}};
        const auto wrong = [&](const std::string& problem) {
            reject(fmt::format("tensor '{}' {}", entry.name, problem));
        };
        if (!names_.insert(entry.name).second) {
            wrong("occurs twice");
        }
        const auto dimensions = in_.number<std::uint32_t>();
        if (dimensions < 1 || dimensions > kMostDimensions) {
            wrong(fmt::format("has {} dimensions, expected 1 to {}", dimensions, kMostDimensions));
        }
        std::uint64_t elements = 1;
        bool overflow = false;
        for (std::uint32_t i = 0; i < dimensions; ++i) {
            const auto side = in_.number<std::uint64_t>();
            overflow = __builtin_mul_overflow(elements, side, &elements) || overflow;
            entry.shape.insert(entry.shape.begin(), static_cast<std::int64_t>(side));
            if (side == 0 || side > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
                wrong(fmt::format("has a side of {}", side));
            }
        }
        const auto type = in_.number<std::uint32_t>();
        entry.type = gguf_type(type);
        if (entry.type == nullptr) {
            wrong(fmt::format("has the type {} of ggml, which is not supported; supported are {}", type,
                              gguf_type_names()));
        }
        if (static_cast<std::uint64_t>(entry.shape.back()) % entry.type->elements != 0) {
            wrong(fmt::format("is {} in rows of {}, expected a multiple of {}", entry.type->name, entry.shape.back(),
                              entry.type->elements));
        }
        std::uint64_t bytes = 0;
        overflow = __builtin_mul_overflow(elements / entry.type->elements, entry.type->bytes, &bytes) || overflow;
        entry.begin = in_.number<std::uint64_t>();
        entry.bytes = bytes;
        if (overflow || bytes > file_.size()) {
            wrong(fmt::format("is {} [{}], which does not fit in a file of {} bytes", entry.type->name,
                              fmt::join(entry.shape, ", "), file_.size()));
        }
        header_.entries.push_back(std::move(entry));
    }

    std::uint64_t alignment() const {
        const auto found = header_.metadata.find(kAlignment);
        if (found == header_.metadata.end()) {
            return kUsualAlignment;
        }
        const bool is_number = found->is_number_unsigned();
        const std::uint64_t given = is_number ? found->get<std::uint64_t>() : 0;
        if (!std::has_single_bit(given) || given > std::numeric_limits<std::uint32_t>::max()) {
            reject(fmt::format("\"{}\" is {}, expected a power of 2", kAlignment, found->dump()));
        }
        return given;
    }

    // The data begins at the next aligned byte after the header.
    void place_entries() {
        const std::uint64_t step = alignment();
        const std::uint64_t data = (in_.position() + step - 1) / step * step;
        std::vector<const GgufEntry*> in_order;
        for (GgufEntry& entry : header_.entries) {
            if (entry.begin % step != 0) {
                reject(fmt::format("tensor '{}' begins at byte {} of the data, expected a multiple of {}", entry.name,
                                   entry.begin, step));
            }
            const std::uint64_t available = data > file_.size() ? 0 : file_.size() - data;
            if (entry.bytes > available || entry.begin > available - entry.bytes) {
                reject(
                    fmt::format("tensor '{}' has {} bytes from byte {} of the data, which ends at {}: the file is "
                                "truncated or damaged",
                                entry.name, entry.bytes, entry.begin, available));
            }
            entry.begin += data;
            in_order.push_back(&entry);
        }
        std::ranges::sort(in_order, {}, &GgufEntry::begin);
        for (std::size_t i = 1; i < in_order.size(); ++i) {
            if (in_order[i]->begin < in_order[i - 1]->begin + in_order[i - 1]->bytes) {
                reject(fmt::format("the tensors '{}' and '{}' overlap", in_order[i - 1]->name, in_order[i]->name));
            }
        }
    }

    std::span<const std::byte> file_;
    ByteReader in_;
    const std::string& path_;
    GgufHeader header_{.metadata = json::object(), .entries = {}};
    std::set<std::string> names_;
    std::uint64_t elements_ = 0;  // of the lists so far
};

}  // namespace

GgufHeader parse_gguf_header(std::span<const std::byte> file, const std::string& path) {
    try {
        return HeaderReader(file, path).read();
    } catch (const TruncatedError& error) {
        throw Error(fmt::format("'{}' cannot be read as a GGUF file: {}", path, error.what()));
    }
}

}  // namespace headscope

#include "text/model_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "support/check.h"

namespace headscope {

namespace {

// Field numbers of sentencepiece_model.proto.
constexpr std::uint64_t kTrainer = 2;
constexpr std::uint64_t kNormalizer = 3;
constexpr std::uint64_t kDenormalizer = 5;
constexpr std::uint64_t kPrecompiledTable = 2;
constexpr std::uint64_t kModelType = 3;
constexpr std::uint64_t kBpe = 2;
constexpr std::uint64_t kUnigram = 1;  // where nothing is said, too

// The fields of one message, in order; only what the wire format says of their lengths is read.
class WireReader {
public:
    WireReader(std::string_view bytes, const std::string& name) : rest_(bytes), name_(name) {}

    // False at the end. `number` and, for a field of bytes, `content` are set.
    bool next(std::uint64_t& number, std::string_view& content) {
        if (rest_.empty()) {
            return false;
        }
        const std::uint64_t tag = varint();
        number = tag >> 3U;
        switch (tag & 7U) {
            case 0: value_ = varint(); break;
            case 1: take(8); break;
            case 2: content = take(varint()); return true;
            case 5: take(4); break;
            default: fail("it holds a field of an unknown kind");
        }
        content = {};
        return true;
    }

    // Of the last field, where it was a number.
    std::uint64_t value() const { return value_; }

    [[noreturn]] void fail(const std::string& problem) const {
        throw Error(fmt::format("'{}' is not a SentencePiece model: {}; fetch or train it again", name_, problem));
    }

private:
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = static_cast<unsigned char>(take(1)[0]);
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if (byte < 0x80) {
                return value;
            }
        }
        fail("it holds a number that does not end");
    }

    std::string_view take(std::uint64_t bytes) {
        if (bytes > rest_.size()) {
            fail("it is cut short or damaged");
        }
        const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(bytes));
        rest_.remove_prefix(static_cast<std::size_t>(bytes));
        return taken;
    }

    std::string_view rest_;
    const std::string& name_;
    std::uint64_t value_ = 0;
};

std::uint32_t little_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
        value = (value << 8U) | static_cast<unsigned char>(bytes[byte]);
    }
    return value;
}

// The table is the size of a double-array trie, the trie's units of 32 bits, and the replacements, each ended by 0. A
// unit leads to a block of 256 units; a leaf holds, below its top bit, a place among the replacements.
void check_table(std::string_view table, const WireReader& reader) {
    constexpr std::size_t kBlock = 256;
    const char* const damaged = "its normalisation table is damaged";
    if (table.empty()) {
        return;  // the model normalises nothing
    }
    if (table.size() < 4) {
        reader.fail(damaged);
    }
    const std::uint32_t trie_bytes = little_endian(table);
    if (trie_bytes > table.size() - 4 || trie_bytes == 0 || trie_bytes % (4 * kBlock) != 0) {
        reader.fail(damaged);
    }
    const std::string_view trie = table.substr(4, trie_bytes);
    const std::string_view replacements = table.substr(4 + trie_bytes);
    if (replacements.empty() || replacements.back() != '\0') {
        reader.fail(damaged);
    }
    const auto unit_at = [&](std::uint32_t at) { return little_endian(trie.substr(std::size_t{4} * at)); };
    const std::uint32_t units = trie_bytes / 4;
    for (std::uint32_t at = 0; at < units; ++at) {
        const std::uint32_t unit = unit_at(at);
        if ((unit & 0x80000000U) != 0) {
            continue;  // reached only by way of a unit that says so, below
        }
        // Bit 9 says that the offset is stored in steps of 256, bit 8 that a leaf stands first in the block.
        const std::uint32_t block = at ^ ((unit >> 10U) << ((unit & 0x200U) != 0 ? 8U : 0U));
        if ((block | (kBlock - 1)) >= units) {
            reader.fail(damaged);
        }
        if ((unit & 0x100U) != 0 && (unit_at(block) & 0x7fffffffU) >= replacements.size()) {
            reader.fail(damaged);
        }
    }
}

void check_normalizer(std::string_view message, const std::string& name) {
    WireReader reader(message, name);
    std::uint64_t number = 0;
    std::string_view content;
    while (reader.next(number, content)) {
        if (number == kPrecompiledTable) {
            check_table(content, reader);
        }
    }
}

}  // namespace

void check_model_file(std::string_view bytes, const std::string& name) {
    WireReader reader(bytes, name);
    if (bytes.empty()) {
        reader.fail("it is empty");
    }
    std::uint64_t number = 0;
    std::string_view content;
    while (reader.next(number, content)) {
        if (number == kNormalizer || number == kDenormalizer) {
            check_normalizer(content, name);
        }
    }
}

TokenizerType model_type(std::string_view bytes, const std::string& name) {
    std::uint64_t type = kUnigram;
    WireReader file(bytes, name);
    std::uint64_t number = 0;
    std::string_view content;
    while (file.next(number, content)) {
        WireReader trainer(number == kTrainer ? content : std::string_view(), name);
        while (trainer.next(number, content)) {
            type = number == kModelType ? trainer.value() : type;
        }
    }
    return type == kBpe ? TokenizerType::Bpe : type == kUnigram ? TokenizerType::Unigram : TokenizerType::Other;
}

}  // namespace headscope

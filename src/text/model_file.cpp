#include "text/model_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "io/proto_wire.h"
#include "support/check.h"

namespace headscope {

namespace {

// Field numbers of sentencepiece_model.proto.
constexpr std::uint32_t kTrainer = 2;
constexpr std::uint32_t kNormalizer = 3;
constexpr std::uint32_t kDenormalizer = 5;
constexpr std::uint32_t kPrecompiledTable = 2;
constexpr std::uint32_t kModelType = 3;
constexpr std::uint64_t kBpe = 2;
constexpr std::uint64_t kUnigram = 1;  // the default

std::uint32_t little_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
        value = (value << 8U) | static_cast<unsigned char>(bytes[byte]);
    }
    return value;
}

// The table consists of the size of a double-array trie, the trie's 32-bit units, and the replacements, each ended by
// 0. A unit leads to a block of 256 units; a leaf contains, below its top bit, a position in the replacements.
void check_table(std::string_view table) {
    constexpr std::size_t kBlock = 256;
    const WireError damaged("its normalization table is damaged");
    if (table.empty()) {
        return;  // no normalization
    }
    if (table.size() < 4) {
        throw damaged;
    }
    const std::uint32_t trie_bytes = little_endian(table);
    if (trie_bytes > table.size() - 4 || trie_bytes == 0 || trie_bytes % (4 * kBlock) != 0) {
        throw damaged;
    }
    const std::string_view trie = table.substr(4, trie_bytes);
    const std::string_view replacements = table.substr(4 + trie_bytes);
    if (replacements.empty() || replacements.back() != '\0') {
        throw damaged;
    }
    const auto unit_at = [&](std::uint32_t at) { return little_endian(trie.substr(std::size_t{4} * at)); };
    const std::uint32_t units = trie_bytes / 4;
    for (std::uint32_t at = 0; at < units; ++at) {
        const std::uint32_t unit = unit_at(at);
        if ((unit & 0x80000000U) != 0) {
            continue;  // a leaf, checked below through its parent
        }
        // Bit 9: the offset is in steps of 256. Bit 8: the block starts with a leaf.
        const std::uint32_t block = at ^ ((unit >> 10U) << ((unit & 0x200U) != 0 ? 8U : 0U));
        if ((block | (kBlock - 1)) >= units) {
            throw damaged;
        }
        if ((unit & 0x100U) != 0 && (unit_at(block) & 0x7fffffffU) >= replacements.size()) {
            throw damaged;
        }
    }
}

void check_normalizer(WireReader reader) {
    while (reader.next()) {
        if (reader.field() == kPrecompiledTable) {
            check_table(reader.bytes());
        }
    }
}

std::uint64_t model_type(WireReader trainer, std::uint64_t fallback) {
    std::uint64_t type = fallback;
    while (trainer.next()) {
        type = trainer.field() == kModelType ? trainer.varint() : type;
    }
    return type;
}

}  // namespace

TokenizerType check_model_file(std::string_view bytes, const std::string& name) {
    std::uint64_t type = kUnigram;
    try {
        if (bytes.empty()) {
            throw WireError("it is empty");
        }
        WireReader reader(bytes);
        while (reader.next()) {
            if (reader.field() == kNormalizer || reader.field() == kDenormalizer) {
                check_normalizer(reader.message());
            } else if (reader.field() == kTrainer) {
                type = model_type(reader.message(), type);
            }
        }
    } catch (const WireError& error) {
        throw Error(
            fmt::format("'{}' is not a SentencePiece model: {}; download or train it again", name, error.what()));
    }
    return type == kBpe ? TokenizerType::Bpe : type == kUnigram ? TokenizerType::Unigram : TokenizerType::Other;
}

}  // namespace headscope

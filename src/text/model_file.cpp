#include "text/model_file.h"

#include <fmt/format.h>

#include <cstdint>

#include "io/proto_wire.h"
#include "support/check.h"
#include "text/character_map.h"

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

void check_normalizer(WireReader reader) {
    while (reader.next()) {
        if (reader.field() == kPrecompiledTable) {
            CharacterMap::check(reader.bytes());
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

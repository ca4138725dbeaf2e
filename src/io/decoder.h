// Decoders of the supported compression formats.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "io/file_kind.h"

namespace headscope {

// Concatenated streams decode to one text, as with gzip, zstd, xz and bzip2.
class Decoder {
public:
    Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    virtual ~Decoder() = default;

    // Consumes bytes of `from` and fills `to`; returns the number of bytes written. Error with the library's message.
    virtual std::size_t decode(std::string_view& from, std::span<char> to) = 0;
    // Whether the input so far ends at the end of a stream.
    virtual bool complete() const = 0;
};

// nullptr if the kind is not compressed.
std::unique_ptr<Decoder> decoder_of(FileKind kind);

}  // namespace headscope

// The formats in which text may be packed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "io/file_kind.h"

namespace headscope {

// Streams one after the other are one text, as the formats' own programs have it.
class Decoder {
public:
    Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    virtual ~Decoder() = default;

    // Takes from `from` and fills `to`; returns the bytes filled. Error with the library's words.
    virtual std::size_t decode(std::string_view& from, std::span<char> to) = 0;
    // Whether the bytes so far end where a stream ends.
    virtual bool complete() const = 0;
};

// None for what is not packed.
std::unique_ptr<Decoder> decoder_of(FileKind kind);

}  // namespace headscope

// The types of tensors in GGUF files, and what their blocks of quantised values stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tensor/blocks.h"

namespace headscope {

// Of our own blocks in one of a file.
inline constexpr std::size_t kMostGgufParts = 8;

// Numbers as ggml's, in rows of whole blocks.
struct GgufType {
    std::uint32_t number;
    const char* name;
    std::size_t elements, bytes;  // of a block
    // Null: the values are stored as they are, and `name` is that of safetensors.
    void (*unpack)(const std::uint8_t* block, float* values);
    // Our own blocks (tensor/blocks.h), as many as the block has elements for, keep every value in this form.
    void (*code)(const std::uint8_t* block, CodedBlock* to) = nullptr;
    BlockForm form = {};
};

// Null for a type that is not supported.
const GgufType* gguf_type(std::uint32_t number);
// Those that are, for messages: "F32, F16, ..".
std::string gguf_type_names();

// The values of whole blocks. False if one is not a finite number.
bool unpack_blocks(const GgufType& type, std::span<const std::byte> blocks, std::span<float> values);

}  // namespace headscope

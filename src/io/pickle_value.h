// What a Python pickle holds, as inert values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/check.h"

namespace headscope {

enum class PickleKind : std::uint8_t {
    None,
    Bool,
    Int,
    Float,
    Text,
    Bytes,
    List,
    Tuple,
    Set,
    Dict,
    Global,   // a class or function by name
    Object,   // an instance: nothing but its attributes
    Storage,  // PyTorch's memory behind tensors
    Tensor,
};

// Texts are views of the pickle. Other values are owned by the arena; they may be shared and contain themselves.
struct PickleValue {
    PickleKind kind = PickleKind::None;
    double number = 0;                // Float
    std::int64_t integer = 0;         // Bool, Int; Storage: elements, or bytes if untyped
    std::int64_t offset = 0;          // Storage, Tensor: in elements
    std::string_view text;            // Text, Bytes; Global: module; Storage: key
    std::string_view name;            // Global: name; Storage, Tensor: dtype as safetensors spells it; empty: untyped
    const PickleValue* of = nullptr;  // Tensor: storage
    // List, Tuple, Set: elements. Dict, Object: keys and values in turn. Tensor: shape and strides, two tuples.
    std::vector<const PickleValue*> items;
};

// Without the file's name, which the file's reader adds.
class PickleError : public Error {
public:
    using Error::Error;
};

class PickleArena {
public:
    PickleValue& make(PickleKind kind) {
        spend(1);
        values_.emplace_back().kind = kind;
        return values_.back();
    }
    // Counts values and copied references, so that a small hostile file does not fill the memory.
    void spend(std::size_t count) {
        constexpr std::size_t kMostValues = 4'000'000;
        spent_ += count;
        if (spent_ > kMostValues) {
            throw PickleError("its pickle has more than 4,000,000 values");
        }
    }

    // Keeps a text that is not in the pickle as it is.
    std::string_view keep(std::string text) {
        spend(text.size());
        return texts_.emplace_back(std::move(text));
    }
    const std::deque<PickleValue>& values() const { return values_; }

private:
    std::deque<PickleValue> values_;
    std::deque<std::string> texts_;
    std::size_t spent_ = 0;
};

}  // namespace headscope

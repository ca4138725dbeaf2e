// Recognises a sequence of ops without running it, by a hash of each op with its scalars and the place of its operands
// in memory. Equal keys mean the same commands over the same memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/ops.h"
#include "backend/repeated_sequence.h"
#include "support/fields.h"
#include "support/hash128.h"

namespace headscope {

class Capture {
public:
    template <class Op>
    void add(const Op& op) {
        add_field(id_of<Op>());
        add_field(op);
        ops_.push_back({id_of<Op>(), hash_.value()});
    }
    // Stands in for memory that the sequence allocates, which is identified by the order of allocations.
    Tensor empty(const Shape& shape, DType dtype);
    // Whether a tensor from empty() still exists.
    bool outlived() const { return allocated_.use_count() > 1; }

    using Key = std::array<std::uint64_t, 2>;
    Key key() const { return hash_.value(); }
    // The first op that is not the same in both, "op 3 (matmul)"; empty if there is none.
    std::string difference(const Capture& other) const;

private:
    template <class Field>
    void add_field(const Field& field) {
        if constexpr (std::is_same_v<Field, Tensor>) {
            add_operand(hash_, field);
        } else if constexpr (std::is_class_v<Field>) {
            for_each_field(field, [this](const auto& inner) { add_field(inner); });
        } else {
            static_assert(std::is_arithmetic_v<Field> || std::is_enum_v<Field>, "a scalar without padding");
            static_assert(sizeof field <= sizeof(std::uint64_t));
            std::uint64_t word = 0;
            std::memcpy(&word, &field, sizeof field);
            hash_.add(word);
        }
    }
    struct Captured {
        OpId op;
        Key until;  // of the sequence up to and with this op
    };
    Hash128 hash_;
    std::vector<Captured> ops_;
    std::shared_ptr<std::size_t> allocated_ = std::make_shared<std::size_t>(0);  // count, shared with the buffers
};

}  // namespace headscope

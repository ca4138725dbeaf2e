// What a sequence of ops does, found without running it: each op with all its scalars, and where its operands lie.
// Equal keys mean the same commands over the same memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/ops.h"
#include "support/fields.h"

namespace headscope {

class Capture {
public:
    template <class Op>
    void add(const Op& op) {
        ops_.push_back({kIdOf<Op>, key_.size()});
        add_field(kIdOf<Op>);
        add_field(op);
    }
    // Memory that the sequence allocates: no bytes, and known by the order of allocation.
    Tensor empty(const Shape& shape, DType dtype);
    // Whether some of that is still in use.
    bool outlived() const { return allocated_.use_count() > 1; }

    const std::string& key() const { return key_; }
    // The first op that is not the same in both, "op 3 (matmul)"; empty if there is none.
    std::string difference(const Capture& other) const;

private:
    template <class Field>
    void add_field(const Field& field) {
        if constexpr (std::is_same_v<Field, Tensor>) {
            add_tensor(field);
        } else if constexpr (std::is_class_v<Field>) {
            for_each_field(field, [this](const auto& inner) { add_field(inner); });
        } else {
            key_.append(reinterpret_cast<const char*>(&field), sizeof field);
        }
    }
    void add_tensor(const Tensor& tensor);

    struct Start {
        OpId op;
        std::size_t at;  // of key_
    };
    std::string key_;
    std::vector<Start> ops_;
    std::shared_ptr<std::size_t> allocated_ = std::make_shared<std::size_t>(0);  // how often; shared with the buffers
};

}  // namespace headscope

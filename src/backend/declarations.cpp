#include "backend/declarations.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include "backend/overlap.h"
#include "support/check.h"

namespace headscope {

static_assert(std::is_trivially_destructible_v<Declared> && std::is_trivially_copyable_v<Declared>);

Declared& Declared::like(const Tensor& other) {
    same_shape = &other;
    return *this;
}
Declared& Declared::ranks(int lowest, int highest) {
    lowest_rank = lowest;
    highest_rank = highest;
    return *this;
}
Declared& Declared::batched() {
    is_batched = true;
    highest_rank = lowest_rank + 2;
    return *this;
}
Declared& Declared::optional() {
    is_optional = true;
    return *this;
}
Declared& Declared::strided() {
    is_strided = true;
    return *this;
}
Declared& Declared::full() {
    return as(OperandType::Full);
}
Declared& Declared::index() {
    return as(OperandType::Index);
}
Declared& Declared::as(OperandType which) {
    type = which;
    return *this;
}
Declared& Declared::scales(const Tensor& weight) {
    scaled = &weight;
    return full();
}
Declared& Declared::may_be(const Tensor& other, bool if_so) {
    if (if_so) {
        const auto unused = std::find(aliases.begin(), aliases.end(), nullptr);
        HEADSCOPE_CHECK(unused != aliases.end(), std::string(name) + " may be more operands than fit in `aliases`");
        *unused = &other;
    }
    return *this;
}
Declared& Declared::partial() {
    is_partial = true;
    return *this;
}

bool Declared::may_share(const Declared& other) const {
    return std::find(aliases.begin(), aliases.end(), other.tensor) != aliases.end();
}

Declared& Declarations::add(const char* name, const Tensor& tensor, OperandAccess access, Dims dims) {
    HEADSCOPE_CHECK(count_ < kMost, std::string(op_) + " has more operands than kMost");
    Declared& added = *new (memory_.data() + sizeof(Declared) * count_++) Declared;
    added.name = name;
    added.tensor = &tensor;
    added.access = access;
    if (dims.size() > 0) {
        std::copy(dims.begin(), dims.end(), added.dims.begin());
        added.stated_dims = static_cast<int>(dims.size());
        added.ranks(added.stated_dims, added.stated_dims);
    }
    return added;
}

Declared& Declarations::gradient(const char* name, const Tensor& tensor, Write write, Dims dims) {
    Declared& added = add(name, tensor, OperandAccess::Gradient, dims);
    added.accumulates = write == Write::Accumulate;
    return added;
}

const Declared* Declarations::own() const {
    for (const OperandType which : {OperandType::Own, OperandType::Full}) {
        for (const Declared& operand : *this) {
            if (operand.type == which && operand.tensor->defined()) {
                return &operand;
            }
        }
    }
    return nullptr;
}

bool is_real_dtype(DType dtype) {
    return dtype == DType::F64 || dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

namespace {

// Checks one op's operands against what it declares.
class Checker {
public:
    Checker(const char* op, const Declarations& operands) : op_(op), operands_(operands) {}

    void check() {
        first_ = operands_.own();
        own_ = first_ == nullptr ? DType::F32 : first_->tensor->dtype;
        full_ = own_ == DType::F64 ? DType::F64 : DType::F32;
        for (const Declared& operand : operands_) {
            if (operand.scaled != nullptr) {
                scales(operand);
            }
            if (operand.tensor->defined() || !(operand.is_optional || operand.scaled != nullptr)) {
                memory(operand);
                dtype(operand);
                shape(operand);
            }
        }
        for (const Declared* output = operands_.begin(); output != operands_.end(); ++output) {
            for (const Declared* other = operands_.begin(); other != operands_.end(); ++other) {
                // A pair of outputs once. Mostly no two operands are in one buffer.
                if (output->written() && output->tensor->buffer == other->tensor->buffer && output != other &&
                    !(other->written() && other < output)) {
                    aliases(*output, *other);
                }
            }
        }
    }

private:
    struct Bound {
        const char* name;
        std::int64_t size;
        const char* operand;  // where it was found
    };

    // Builds the message only on failure.
    template <class Message>
    void expect(bool condition, const Declared& operand, const Message& message) const {
        if (!condition) {
            throw CheckFailure(std::string(op_) + ": " + operand.name + " " + message());
        }
    }

    void memory(const Declared& operand) const {
        const Tensor& tensor = *operand.tensor;
        expect(tensor.defined(), operand, [] { return std::string("is missing"); });
        expect(tensor.rank() == 0 || tensor.dim(-1) <= 1 || tensor.stride(-1) == 1, operand,
               [&] { return "must have innermost stride 1, found " + tensor.to_string(); });
        if (tensor.elements() > 0) {
            const auto width = static_cast<std::int64_t>(size_of(tensor.dtype));
            const auto bytes = static_cast<std::int64_t>(tensor.buffer->bytes());
            expect(tensor.offset >= 0 && (tensor.offset + reach(tensor) + 1) * width <= bytes, operand, [&] {
                return tensor.to_string() + " reaches past its buffer of " + std::to_string(bytes) + " bytes";
            });
        }
        expect(tensor.layout == WeightLayout::Rows || operand.type == OperandType::Weight, operand,
               [&] { return "must be in rows, found " + tensor.to_string(); });
        expect(operand.is_strided || tensor.contiguous(), operand,
               [&] { return "must be contiguous, found " + tensor.to_string(); });
    }

    void dtype(const Declared& operand) const {
        const Tensor& tensor = *operand.tensor;
        const auto must_be = [&](DType expected, const Declared* like = nullptr) {
            expect(tensor.dtype == expected, operand, [&] {
                return std::string("must be ") + name_of(expected) +
                       (like == nullptr ? "" : std::string(" like ") + like->name) + ", found " + tensor.to_string();
            });
        };
        const auto must_be_real = [&] {
            expect(is_real_dtype(tensor.dtype), operand,
                   [&] { return "must be of a real dtype, found " + tensor.to_string(); });
        };
        const bool narrow = tensor.dtype == DType::F16 || tensor.dtype == DType::BF16 || tensor.dtype == DType::I8;
        switch (operand.type) {
            case OperandType::Full: must_be(full_); break;
            case OperandType::Index: must_be(DType::I32); break;
            case OperandType::Real: must_be_real(); break;
            case OperandType::Any: break;
            case OperandType::Half:
                expect(tensor.dtype == DType::F16 || tensor.dtype == DType::BF16, operand,
                       [&] { return "must be F16 or BF16, found " + tensor.to_string(); });
                break;
            case OperandType::OwnOrFull:
            case OperandType::Weight:
                if (operand.type == OperandType::Weight ? narrow && own_ == full_ : tensor.dtype == full_) {
                    break;
                }
                [[fallthrough]];
            case OperandType::Own:
                must_be_real();
                must_be(own_, first_);
                break;
        }
    }

    void scales(const Declared& operand) const {
        const bool needed = operand.scaled->dtype == DType::I8;
        expect(operand.tensor->defined() == needed, operand, [&] {
            return std::string(needed ? "is missing" : "belongs to I8 alone") + ", and its weight is " +
                   operand.scaled->to_string();
        });
    }

    void shape(const Declared& operand) {
        const Tensor& tensor = *operand.tensor;
        if (operand.same_shape != nullptr) {
            expect(tensor.shape == operand.same_shape->shape, operand, [&] {
                return "must have the shape " + operand.same_shape->shape.to_string() + ", found " + tensor.to_string();
            });
            return;
        }
        expect(tensor.rank() >= operand.lowest_rank && tensor.rank() <= operand.highest_rank, operand, [&] {
            return "must have rank " + std::to_string(operand.lowest_rank) +
                   (operand.lowest_rank == operand.highest_rank ? "" : " to " + std::to_string(operand.highest_rank)) +
                   ", found " + tensor.to_string();
        });
        if (operand.stated_dims == 0) {
            return;
        }
        Shape expected = tensor.shape;
        std::string why;
        const int leading = tensor.rank() - operand.stated_dims;
        if (operand.is_batched) {
            const Bound* batches = bind("batch dimensions", leading, operand.name);
            expect(batches->size == leading, operand, [&] {
                return "must have as many batch dimensions as " + std::string(batches->operand) + " (" +
                       std::to_string(batches->size) + "), found " + tensor.to_string();
            });
        }
        for (int i = 0; i < tensor.rank(); ++i) {
            static constexpr std::array<const char*, 2> kBatches{"the first batch dimension",
                                                                 "the second batch dimension"};
            const Dim dim = i < leading ? Dim(kBatches[static_cast<std::size_t>(i)])
                                        : operand.dims[static_cast<std::size_t>(i - leading)];
            const Bound* bound = dim.name == nullptr ? nullptr : bind(dim.name, tensor.dim(i), operand.name);
            const std::int64_t size = bound == nullptr ? dim.size : bound->size;
            if (size != tensor.dim(i)) {
                expected.set(i, size);
                why += bound == nullptr
                           ? std::string()
                           : std::string("; ") + dim.name + " is " + std::to_string(size) + " in " + bound->operand;
            }
        }
        expect(expected == tensor.shape, operand,
               [&] { return "must have the shape " + expected.to_string() + ", found " + tensor.to_string() + why; });
    }

    // The size that this name stands for: its first one.
    const Bound* bind(const char* name, std::int64_t size, const char* operand) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (bound_[i].name == name || std::strcmp(bound_[i].name, name) == 0) {
                return &bound_[i];
            }
        }
        HEADSCOPE_CHECK(count_ < bound_.size(), std::string(op_) + " names too many dimensions");
        bound_[count_] = {name, size, operand};
        return &bound_[count_++];
    }

    // An accumulated output is also an input, so it must not be another operand.
    void aliases(const Declared& output, const Declared& other) const {
        const Tensor& a = *output.tensor;
        const Tensor& b = *other.tensor;
        const bool may_share =
            (output.may_share(other) && !output.accumulates) || (other.may_share(output) && !other.accumulates);
        expect((may_share && a.defined() && b.defined() && same_view(a, b)) || !may_overlap(a, b), output, [&] {
            return a.to_string() +
                   (may_share ? " must be the same view as " : " must not share memory with the operand ") +
                   other.name + " " + b.to_string() + (may_share ? " or share no memory with it" : "");
        });
    }

    const char* op_;
    const Declarations& operands_;
    const Declared* first_ = nullptr;
    DType own_ = DType::F32, full_ = DType::F32;
    std::array<Bound, 12> bound_{};
    std::size_t count_ = 0;
};

}  // namespace

void Declarations::check() const {
    Checker(op_, *this).check();
}

}  // namespace headscope

// How an op states its operands: once, in declare(). Validation, the dtypes that a backend checks, the outputs that are
// scanned for NaN, and the roles, layouts and aliases of the conformance harness are all read from this list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "backend/choices.h"
#include "tensor/tensor.h"

namespace headscope {

enum class OperandAccess : std::uint8_t {
    In,
    Out,       // overwritten, whatever it held
    Gradient,  // as its Write says
    InOut,     // read, then changed
};

// The dtype of an operand.
//
// Dtypes. T, which operands have unless their op declares something else, is F32, F16 or BF16, in all of an op's
// operands alike: activations, their gradients, the weights that are multiplied. Every other real operand is full(),
// F32: masters, biases, gains, statistics, weight gradients, losses. In the oracle both are F64. Whatever T is, an op
// computes in F32 and rounds what it writes once.
//
// Weights. An OperandType::Weight may also be stored in less beside operands that are F32 (F64 in the oracle):
//   F16, which is multiplied as what it stands for, or
//   I8 with scales [rows]: row j stands for scales[j] * row j. A product rounds its other operand to I8, too, each row
//   by itself (quantisation.h), so that the products are integers and their sums exact on every device.
// Backend::weights() says what a device has. A Weight alone may be in panels (Backend::pack).
enum class OperandType : std::uint8_t {
    Own,        // T: the dtype of the op's first such operand
    Full,       // F32, or F64 beside F64
    OwnOrFull,  // the gradient of a weight
    Weight,     // T or narrow
    Half,       // F16 or BF16, whatever T is
    Real,       // any real dtype
    Any,
    Index,  // I32
};

// A size, or a name that stands for one size in all operands of an op.
struct Dim {
    Dim() = default;
    Dim(const char* of) : name(of) {}         // NOLINT(google-explicit-constructor)
    Dim(std::int64_t count) : size(count) {}  // NOLINT(google-explicit-constructor)
    Dim(int count) : size(count) {}           // NOLINT(google-explicit-constructor)
    const char* name = nullptr;
    std::int64_t size = 0;
};

// One operand. By default it is required, contiguous, of dtype T, and shares no memory with an output.
struct Declared {
    Declared& like(const Tensor& other);  // of its shape
    Declared& ranks(int lowest, int highest);
    Declared& batched();  // behind zero to two leading dimensions, which are equal in all such operands
    Declared& optional();
    Declared& strided();  // any stride but the innermost, which is 1
    Declared& full();
    Declared& index();
    Declared& as(OperandType which);
    Declared& scales(const Tensor& weight);                    // given if and only if this weight is I8
    Declared& may_be(const Tensor& other, bool if_so = true);  // may be the same view; not while it accumulates
    Declared& partial();                                       // an output of which some elements stay as they were

    bool written() const { return access != OperandAccess::In; }
    bool fully_written() const { return written() && !is_partial && tensor->defined(); }
    bool may_share(const Declared& other) const;

    const char* name = "";
    const Tensor* tensor = nullptr;
    const Tensor* same_shape = nullptr;
    const Tensor* scaled = nullptr;
    std::array<const Tensor*, 2> aliases{};
    std::array<Dim, kMaxRank> dims{};
    int lowest_rank = 0, highest_rank = kMaxRank;
    int stated_dims = 0;  // 0: any shape
    OperandAccess access = OperandAccess::In;
    OperandType type = OperandType::Own;
    bool is_optional = false, is_strided = false, is_batched = false, is_partial = false, accumulates = false;
};

struct DropoutRule;

class Declarations {
public:
    explicit Declarations(const char* op) : op_(op) {}

    using Dims = std::initializer_list<Dim>;
    Declared& in(const char* name, const Tensor& tensor, Dims dims = {}) {
        return add(name, tensor, OperandAccess::In, dims);
    }
    Declared& out(const char* name, const Tensor& tensor, Dims dims = {}) {
        return add(name, tensor, OperandAccess::Out, dims);
    }
    Declared& in_out(const char* name, const Tensor& tensor, Dims dims = {}) {
        return add(name, tensor, OperandAccess::InOut, dims);
    }
    Declared& gradient(const char* name, const Tensor& tensor, Write write, Dims dims = {});

    // validate() also checks the limits of `rule` for x.
    void dropout(const DropoutRule& rule, const Tensor& x) { dropped_ = {&rule, &x}; }
    struct Dropped {
        const DropoutRule* rule = nullptr;  // null if the op drops nothing
        const Tensor* x = nullptr;
    };
    const Dropped& dropped() const { return dropped_; }

    const Declared* begin() const { return reinterpret_cast<const Declared*>(memory_.data()); }
    const Declared* end() const { return begin() + count_; }

    // The operand whose dtype is T: the first Own one, or else the first full() one. Null: T is F32.
    const Declared* own() const;

    // CheckFailure names the op, the operand, what was expected and what was found. It runs for every op of every
    // token, so messages are built only on failure.
    void check() const;

private:
    static constexpr std::size_t kMost = 16;
    Declared& add(const char* name, const Tensor& tensor, OperandAccess access, Dims dims);

    const char* op_;
    Dropped dropped_;
    // Only what is used is initialised: this list is made for every op that runs.
    alignas(Declared) std::array<std::byte, kMost * sizeof(Declared)> memory_;
    std::size_t count_ = 0;
};

template <class Op>
Declarations operands_of(const Op& op) {
    Declarations operands(Op::kName);
    op.declare(operands);
    return operands;
}

bool is_real_dtype(DType dtype);

}  // namespace headscope

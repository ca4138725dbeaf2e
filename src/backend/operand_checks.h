// The vocabulary in which validate() states an op's contract. Messages name the op and the operand.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "backend/ops/common.h"

namespace headscope {

// Whether two views share an element; true if that cannot be ruled out.
bool may_overlap(const Tensor& a, const Tensor& b);

class OperandChecks {
public:
    explicit OperandChecks(const char* op) : op_(op) {}

    // A tensor of `dtype` (or any real one; the same as the first's) with memory, innermost stride 1, all within its
    // buffer.
    void real(const char* name, const Tensor& tensor);
    void typed(const char* name, const Tensor& tensor, DType dtype) const;
    void numeric(const char* name, const Tensor& tensor) const;  // any dtype

    void contiguous(const char* name, const Tensor& tensor) const;
    void rank(const char* name, const Tensor& tensor, int lowest, int highest) const;
    void shape(const char* name, const Tensor& tensor, const Shape& expected) const;

    // Like real(), of the first operand's dtype, contiguous, of this shape: what most operands are.
    void plain(const char* name, const Tensor& tensor, const Shape& expected);
    // F64 if the op's first operand is F64, else F32, whatever 16-bit type the others have.
    DType wide() const { return dtype_ == DType::F64 ? DType::F64 : DType::F32; }
    // A weight [rows, ..]: of the first operand's dtype, or narrow next to operands of wide() (ops/common.h), with
    // `scales` [rows] if and only if it is I8.
    void weight(const char* name, const Tensor& tensor, const char* scales_name, const Tensor& scales);
    // Like plain(), but of the dtype wide().
    void full(const char* name, const Tensor& tensor, const Shape& expected);
    // The same for I32.
    void indices(const char* name, const Tensor& tensor, const Shape& expected) const;

    // `out` shares no element with any of `inputs`.
    void apart(const char* name, const Tensor& out, std::initializer_list<const Tensor*> inputs) const;
    // `out` is exactly the view `input`, or shares no element with it.
    void same_or_apart(const char* name, const Tensor& out, const Tensor& input) const;
    // An accumulated output is also an input, so it must not be another operand.
    void accumulates_apart(const char* name, const Tensor& out, const Tensor& input, Write write) const;

    // For x [batch, length, columns] or [batch, heads, queries, keys].
    void dropout(const DropoutRule& rule, const Tensor& x) const;

    // Builds the message only on failure: this runs for every op of every token.
    template <class Message>
    void expect(bool condition, Message&& message) const {
        if (!condition) {
            fail(message());
        }
    }

private:
    [[noreturn]] void fail(const std::string& message) const;
    void present(const char* name, const Tensor& tensor) const;
    const char* op_;
    bool has_dtype_ = false;
    DType dtype_ = DType::F32;  // of the op's first real operand; the others follow
};

bool is_real_dtype(DType dtype);

}  // namespace headscope

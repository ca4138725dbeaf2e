// The words in which validate() states an op's contract. Each call names the op and the operand it speaks of.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "backend/ops/common.h"

namespace headscope {

// Whether two views share an element; true where that cannot be ruled out.
bool may_overlap(const Tensor& a, const Tensor& b);

class OperandChecks {
public:
    explicit OperandChecks(const char* op) : op_(op) {}

    // A tensor of `dtype` (or any real one; the same as the first's) with memory, its innermost stride 1, all of it
    // inside its buffer.
    void real(const char* name, const Tensor& tensor);
    void typed(const char* name, const Tensor& tensor, DType dtype) const;
    void numeric(const char* name, const Tensor& tensor) const;  // any dtype

    void contiguous(const char* name, const Tensor& tensor) const;
    void rank(const char* name, const Tensor& tensor, int lowest, int highest) const;
    void shape(const char* name, const Tensor& tensor, const Shape& expected) const;

    // real() of the first operand's dtype, contiguous, of this shape; what most operands are.
    void plain(const char* name, const Tensor& tensor, const Shape& expected);
    // F64 where the op's first operand is, else F32, whatever the 16 bits of the others.
    DType wide() const { return dtype_ == DType::F64 ? DType::F64 : DType::F32; }
    // A weight [rows, ..]: of the first operand's dtype, or narrow beside operands of wide() (ops/common.h), with
    // `scales` [rows] where it is I8 and only there.
    void weight(const char* name, const Tensor& tensor, const char* scales_name, const Tensor& scales);
    // As plain(), but of the dtype wide().
    void full(const char* name, const Tensor& tensor, const Shape& expected);
    // The same for I32.
    void indices(const char* name, const Tensor& tensor, const Shape& expected) const;

    // `out` shares no element with any of `inputs`.
    void apart(const char* name, const Tensor& out, std::initializer_list<const Tensor*> inputs) const;
    // `out` is the very view `input`, or shares no element with it.
    void same_or_apart(const char* name, const Tensor& out, const Tensor& input) const;
    // An accumulated output is its own input as well, so it may not stand for another operand.
    void accumulates_apart(const char* name, const Tensor& out, const Tensor& input, Write write) const;

    // For x [batch, length, columns] or [batch, heads, queries, keys].
    void dropout(const DropoutRule& rule, const Tensor& x) const;

    // message() is composed only where it is needed: this runs for every op of every token.
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

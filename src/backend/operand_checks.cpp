#include "backend/operand_checks.h"

#include "support/check.h"

namespace headscope {

namespace {

// The last element's place, relative to the first.
std::int64_t reach(const Tensor& tensor) {
    std::int64_t last = 0;
    for (int dim = 0; dim < tensor.rank(); ++dim) {
        last += (tensor.dim(dim) - 1) * tensor.stride(dim);
    }
    return last;
}

// Ignoring every stride that is a multiple of `period`: where within its period a view begins, and how far it reaches.
struct Window {
    std::int64_t begin;
    std::int64_t end;
};

Window window_of(const Tensor& tensor, std::int64_t period) {
    std::int64_t last = 0;
    for (int dim = 0; dim < tensor.rank(); ++dim) {
        if (tensor.stride(dim) % period != 0) {
            last += (tensor.dim(dim) - 1) * tensor.stride(dim);
        }
    }
    const std::int64_t begin = tensor.offset % period;
    return {begin, begin + last};
}

// Two views of one packed tensor (q and k of a q/k/v product) interleave: their elements never share a place modulo the
// length of a packed row.
bool interleave(const Tensor& a, const Tensor& b) {
    if (a.dtype != b.dtype) {
        return false;
    }
    for (int dim = 0; dim < a.rank(); ++dim) {
        const std::int64_t period = a.stride(dim);
        if (period <= 1) {
            continue;
        }
        const Window first = window_of(a, period);
        const Window second = window_of(b, period);
        if (first.end < period && second.end < period && (first.end < second.begin || second.end < first.begin)) {
            return true;
        }
    }
    return false;
}

bool same_view(const Tensor& a, const Tensor& b) {
    if (a.buffer != b.buffer || a.dtype != b.dtype || a.offset != b.offset || !(a.shape == b.shape)) {
        return false;
    }
    for (int dim = 0; dim < a.rank(); ++dim) {
        if (a.dim(dim) != 1 && a.stride(dim) != b.stride(dim)) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool is_real_dtype(DType dtype) {
    return dtype == DType::F64 || dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

bool may_overlap(const Tensor& a, const Tensor& b) {
    if (!a.defined() || !b.defined() || a.buffer != b.buffer || a.elements() == 0 || b.elements() == 0) {
        return false;
    }
    const auto width_a = static_cast<std::int64_t>(size_of(a.dtype));
    const auto width_b = static_cast<std::int64_t>(size_of(b.dtype));
    const bool apart = (a.offset + reach(a) + 1) * width_a <= b.offset * width_b ||
                       (b.offset + reach(b) + 1) * width_b <= a.offset * width_a;
    return !apart && !interleave(a, b);
}

void OperandChecks::fail(const std::string& message) const {
    throw CheckFailure(std::string(op_) + ": " + message);
}

void OperandChecks::present(const char* name, const Tensor& tensor) const {
    expect(tensor.defined(), [&] { return std::string(name) + " is missing"; });
    expect(tensor.rank() == 0 || tensor.dim(-1) <= 1 || tensor.stride(-1) == 1,
           [&] { return std::string(name) + " must have innermost stride 1, found " + tensor.to_string(); });
    if (tensor.elements() > 0) {
        const auto width = static_cast<std::int64_t>(size_of(tensor.dtype));
        const auto bytes = static_cast<std::int64_t>(tensor.buffer->bytes());
        expect(tensor.offset >= 0 && (tensor.offset + reach(tensor) + 1) * width <= bytes, [&] {
            return std::string(name) + " " + tensor.to_string() + " reaches past its buffer of " +
                   std::to_string(bytes) + " bytes";
        });
    }
}

void OperandChecks::numeric(const char* name, const Tensor& tensor) const {
    present(name, tensor);
}

void OperandChecks::typed(const char* name, const Tensor& tensor, DType dtype) const {
    present(name, tensor);
    expect(tensor.dtype == dtype,
           [&] { return std::string(name) + " must be " + name_of(dtype) + ", found " + tensor.to_string(); });
}

void OperandChecks::real(const char* name, const Tensor& tensor) {
    present(name, tensor);
    expect(is_real_dtype(tensor.dtype),
           [&] { return std::string(name) + " must be of a real dtype, found " + tensor.to_string(); });
    if (has_dtype_) {
        expect(tensor.dtype == dtype_, [&] {
            return std::string(name) + " must be " + name_of(dtype_) + " like the first operand, found " +
                   tensor.to_string();
        });
    }
    has_dtype_ = true;
    dtype_ = tensor.dtype;
}

void OperandChecks::weight(const char* name, const Tensor& tensor, const char* scales_name, const Tensor& scales) {
    const bool eight = tensor.dtype == DType::I8;
    if (has_dtype_ && dtype_ == wide() && (eight || tensor.dtype == DType::F16)) {
        present(name, tensor);
    } else {
        real(name, tensor);
    }
    expect(scales.defined() == eight, [&] {
        return std::string(scales_name) + (eight ? " is missing, and " : " belongs to I8 alone, and ") + name + " is " +
               tensor.to_string();
    });
    if (eight) {
        full(scales_name, scales, Shape{tensor.dim(0)});
    }
}

void OperandChecks::contiguous(const char* name, const Tensor& tensor) const {
    expect(tensor.contiguous(), [&] { return std::string(name) + " must be contiguous, found " + tensor.to_string(); });
}

void OperandChecks::rank(const char* name, const Tensor& tensor, int lowest, int highest) const {
    expect(tensor.rank() >= lowest && tensor.rank() <= highest, [&] {
        return std::string(name) + " must have rank " + std::to_string(lowest) +
               (lowest == highest ? "" : " to " + std::to_string(highest)) + ", found " + tensor.to_string();
    });
}

void OperandChecks::shape(const char* name, const Tensor& tensor, const Shape& expected) const {
    expect(tensor.shape == expected, [&] {
        return std::string(name) + " must have the shape " + expected.to_string() + ", found " + tensor.to_string();
    });
}

void OperandChecks::plain(const char* name, const Tensor& tensor, const Shape& expected) {
    real(name, tensor);
    shape(name, tensor, expected);
    contiguous(name, tensor);
}

void OperandChecks::full(const char* name, const Tensor& tensor, const Shape& expected) {
    if (!has_dtype_) {
        has_dtype_ = true;
        dtype_ = tensor.dtype;
    }
    typed(name, tensor, wide());
    shape(name, tensor, expected);
    contiguous(name, tensor);
}

void OperandChecks::indices(const char* name, const Tensor& tensor, const Shape& expected) const {
    typed(name, tensor, DType::I32);
    shape(name, tensor, expected);
    contiguous(name, tensor);
}

void OperandChecks::apart(const char* name, const Tensor& out, std::initializer_list<const Tensor*> inputs) const {
    for (const Tensor* input : inputs) {
        expect(!may_overlap(out, *input), [&] {
            return std::string(name) + " " + out.to_string() + " must not share memory with the operand " +
                   input->to_string();
        });
    }
}

void OperandChecks::same_or_apart(const char* name, const Tensor& out, const Tensor& input) const {
    expect(same_view(out, input) || !may_overlap(out, input), [&] {
        return std::string(name) + " " + out.to_string() + " must be the same view as " + input.to_string() +
               " or share no memory with it";
    });
}

void OperandChecks::accumulates_apart(const char* name, const Tensor& out, const Tensor& input, Write write) const {
    if (write == Write::Accumulate) {
        apart(name, out, {&input});
    } else {
        same_or_apart(name, out, input);
    }
}

void OperandChecks::dropout(const DropoutRule& rule, const Tensor& x) const {
    expect(rule.rate >= 0.0F && rule.rate < 1.0F,
           [&] { return "the dropout rate must be in [0, 1), found " + std::to_string(rule.rate); });
    if (rule.rate == 0.0F) {
        return;
    }
    constexpr std::uint32_t kAll = 65536;  // the 16 bits of a draw
    expect(dropout_threshold(rule.rate) < kAll,
           [&] { return "the dropout rate " + std::to_string(rule.rate) + " would drop everything"; });
    indices("the dropout's step", rule.step, Shape{1});
    indices("the dropout's ordinals", rule.ordinals, Shape{x.dim(0)});
    // The counter holds head and position in 16 bits each.
    expect(x.dim(-2) <= kAll && (x.rank() == 3 || x.dim(1) <= kAll),
           [&] { return "dropout counts at most 65536 heads and positions, found " + x.to_string(); });
}

}  // namespace headscope

// The longest chain of ops of which each reads what the one before it wrote: the operations that no device can run side
// by side (paper 4, "Sequential Operations").
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "backend/declarations.h"
#include "backend/forwarding_backend.h"
#include "backend/ops.h"

namespace headscope {

// Runs everything on another backend and counts. A fused op counts as one. Memory counts as a whole: an op that reads
// one part of a buffer depends on those that wrote the others.
class DependencyDepth final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;

    // Of the op that wrote `tensor` last; 0: none did.
    std::int64_t of(const Tensor& tensor) const {
        const auto found = depths_.find(tensor.buffer.get());
        return found == depths_.end() ? 0 : found->second;
    }

#define HEADSCOPE_DEFINE(Op)          \
    void run(const Op& op) override { \
        observe(op);                  \
        ForwardingBackend::run(op);   \
    }
    HEADSCOPE_ALL_OPS(HEADSCOPE_DEFINE)
#undef HEADSCOPE_DEFINE

private:
    template <class Op>
    void observe(const Op& op) {
        Declarations operands(Op::kName);
        op.declare(operands);
        std::int64_t deepest = 0;
        for (const Declared& operand : operands) {
            if (operand.tensor->defined() && operand.access != OperandAccess::Out) {
                deepest = std::max(deepest, of(*operand.tensor));
            }
        }
        for (const Declared& operand : operands) {
            if (operand.tensor->defined() && operand.access != OperandAccess::In) {
                std::int64_t& depth = depths_[operand.tensor->buffer.get()];
                depth = std::max(depth, deepest + 1);
                kept_.push_back(operand.tensor->buffer);
            }
        }
    }

    std::map<const Buffer*, std::int64_t> depths_;
    std::vector<std::shared_ptr<Buffer>> kept_;  // so that no later buffer has the address of an earlier one
};

}  // namespace headscope

// A backend that runs nothing: shows what the decorator and the default compositions run, which must fulfil the
// contract of every op.
#pragma once

#include <string>
#include <vector>

#include "backend/ops.h"
#include "backend/ops/elementwise.h"
#include "backend/validate.h"
#include "backends/cpu/memory/host_backend.h"
#include "backends/cpu/memory/view.h"

namespace headscope {

inline DeviceInfo test_device() {
    DeviceInfo info;
    info.id = "test";
    info.name = "a test's device";
    return info;
}

class RecordingBackend final : public HostBackend {
public:
    explicit RecordingBackend(std::vector<std::string>& ran) : HostBackend(test_device()), ran_(ran) {}

    Support support(OpId op, DType) const override {
        return {SupportLevel::None, name_of(op) + std::string(" only noted")};
    }

    using HostBackend::run;
#define HEADSCOPE_DEFINE(Op)          \
    void run(const Op& op) override { \
        validate(op);                 \
        ran_.emplace_back(Op::kName); \
        poison(op);                   \
    }
    HEADSCOPE_CORE_OPS(HEADSCOPE_DEFINE)
#undef HEADSCOPE_DEFINE

    bool writes_nan = false;

private:
    template <class Op>
    void poison(const Op& /*op*/) {}
    void poison(const AddScaled& op) {
        if (writes_nan) {
            *data_of<float>(op.out.narrow(0, 1, 1)) = std::bit_cast<float>(0x7fc00000);
        }
    }
    std::vector<std::string>& ran_;
};

}  // namespace headscope

// A backend that stores uploads in host memory and runs no ops.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "support/check.h"

namespace headscope {

class RecordingBackend : public Backend {
public:
    struct Memory : Buffer {
        explicit Memory(std::size_t size) : values(size) {}
        std::size_t bytes() const override { return values.size(); }
        Address address() const override { return {0, reinterpret_cast<std::uintptr_t>(values.data())}; }
        std::vector<std::byte> values;
    };

    const DeviceInfo& device() const override { return device_; }
    Tensor empty(const Shape& shape, DType dtype) override {
        return make_tensor(std::make_shared<Memory>(static_cast<std::size_t>(shape.elements()) * size_of(dtype)), shape,
                           dtype);
    }
    void upload(const Tensor& to, const void* from, std::size_t bytes) override {
        HEADSCOPE_CHECK(bytes == to.buffer->bytes(), "an upload must fill its tensor");
        std::memcpy(dynamic_cast<Memory&>(*to.buffer).values.data(), from, bytes);
    }
    void download(const Tensor& from, void* to, std::size_t bytes) override {
        std::memcpy(to, dynamic_cast<Memory&>(*from.buffer).values.data(), bytes);
    }
    void synchronize() override {}
    MemoryUse memory() const override { return {}; }
    Support support(OpId /*op*/, DType /*dtype*/) const override { return {}; }

#define HEADSCOPE_REFUSE(Op)                                 \
    void run(const Op& /*op*/) override {                    \
        HEADSCOPE_CHECK(false, "this backend runs nothing"); \
    }
    HEADSCOPE_CORE_OPS(HEADSCOPE_REFUSE)
#undef HEADSCOPE_REFUSE

private:
    DeviceInfo device_;
};

}  // namespace headscope

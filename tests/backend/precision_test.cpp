// How a device provides a requested precision.
#include "backend/precision.h"

#include <catch2/catch.hpp>

#include "backends/cpu/memory/host_backend.h"
#include "recording_backend.h"
#include "support/check.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// A device that only reports what it can do.
class Claiming final : public HostBackend {
public:
    Claiming() : HostBackend(test_device()) {}
    Support support(OpId op, DType dtype) const override {
        if (dtype == DType::F32 || (dtype == storage && op != lacks)) {
            return {};
        }
        return {SupportLevel::None, std::string("no ") + name_of(op) + " in " + name_of(dtype)};
    }
    Support products(Compute compute) const override {
        return compute == fast ? Support{} : Support{SupportLevel::Composed, "slow"};
    }
    Support weights(DType dtype) const override {
        return dtype == narrow ? Support{} : Support{SupportLevel::None, "too narrow"};
    }
    using HostBackend::run;
#define HEADSCOPE_DEFINE(Op) \
    void run(const Op& /*op*/) override {}
    HEADSCOPE_CORE_OPS(HEADSCOPE_DEFINE)
#undef HEADSCOPE_DEFINE

    DType storage = DType::F32;
    std::optional<OpId> lacks;
    Compute fast = Compute::F32;
    DType narrow = DType::F32;
};

std::string refusal(const Backend& backend, Precision precision) {
    try {
        static_cast<void>(arithmetic_for(backend, precision, "the option"));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("bf16 is storage if the device has it, else fast products, else an error", "[precision]") {
    Claiming device;
    CHECK(arithmetic_for(device, Precision::F32, "") == Arithmetic{});
    CHECK(refusal(device, Precision::BF16) ==
          "the option: test has no BF16 storage (no fill in BF16) and no fast BF16 products (slow): use f32, or choose "
          "another --device");
    device.fast = Compute::BF16;
    CHECK(arithmetic_for(device, Precision::BF16, "") == Arithmetic{.compute = Compute::BF16});
    device.storage = DType::BF16;
    CHECK(arithmetic_for(device, Precision::BF16, "") == Arithmetic{.storage = DType::BF16});
    device.lacks = OpId::LogSoftmaxTopK;  // one missing op is enough
    CHECK(arithmetic_for(device, Precision::BF16, "") == Arithmetic{.compute = Compute::BF16});
    device.lacks = OpId::StepControl;  // which only uses F32
    CHECK(arithmetic_for(device, Precision::BF16, "") == Arithmetic{.storage = DType::BF16});
}

TEST_CASE("f16 is only storage, tf32 only products", "[precision]") {
    Claiming device;
    device.fast = Compute::F16;
    CHECK_THAT(refusal(device, Precision::F16), Contains("no F16 storage (no fill in F16): use f32"));
    device.storage = DType::F16;
    CHECK(arithmetic_for(device, Precision::F16, "") == Arithmetic{.storage = DType::F16});
    CHECK_THAT(refusal(device, Precision::TF32), Contains("test has no fast TF32 products (slow)"));
    device.fast = Compute::TF32;
    CHECK(arithmetic_for(device, Precision::TF32, "") == Arithmetic{.compute = Compute::TF32});
}

TEST_CASE("a model for inference may have narrow weights with F32 activations", "[precision]") {
    Claiming device;
    const auto read = [&](Precision precision) { return inference_arithmetic_for(device, precision, "the option"); };
    CHECK(read(Precision::F32) == Arithmetic{});
    CHECK_THROWS_WITH(read(Precision::F16),
                      "the option: test has no F16 weights (too narrow): use f32, or choose another --device");
    CHECK_THROWS_WITH(read(Precision::I8), Contains("test has no I8 weights (too narrow)"));
    CHECK_THROWS_WITH(read(Precision::BF16), Contains("no BF16 storage"));
    device.narrow = DType::I8;
    CHECK(read(Precision::I8) == Arithmetic{.storage = DType::I8, .weights_alone = true});
    CHECK(activations_beside(device, DType::I8) == DType::F32);
    device.narrow = DType::F16;
    CHECK(read(Precision::F16) == Arithmetic{.storage = DType::F16, .weights_alone = true});
    CHECK(activations_beside(device, DType::F16) == DType::F32);
    CHECK_THROWS_WITH(read(Precision::BF16), Contains("no BF16 storage"));
    device.narrow = DType::BF16;
    CHECK(read(Precision::BF16) == Arithmetic{.storage = DType::BF16, .weights_alone = true});
    device.storage = DType::F16;  // full F16 storage, if available
    CHECK(read(Precision::F16) == Arithmetic{.storage = DType::F16});
    CHECK(activations_beside(device, DType::F16) == DType::F16);
    CHECK_THAT(refusal(device, Precision::I8), Contains("the option: i8 is only for the weights of a model that"));
    CHECK(read(Precision::Q4) == Arithmetic{.weights_alone = true, .block_bits = 4});
    CHECK(read(Precision::Q8).weights().block_bits == 8);
    CHECK(read(Precision::F32).weights().keeps_blocks);
    CHECK(!read(Precision::F16).weights().keeps_blocks);
    CHECK_THAT(refusal(device, Precision::Q4), Contains("the option: q4 is only for the weights of a model that"));
}

TEST_CASE("an arithmetic has a name", "[precision]") {
    CHECK(name_of(Arithmetic{.storage = DType::I8, .weights_alone = true}) == "I8 weights");
    CHECK(name_of(Arithmetic{.weights_alone = true, .block_bits = 4}) == "Q4 weights");
    CHECK(name_of(Arithmetic{}) == "F32");
    CHECK(name_of(Arithmetic{.compute = Compute::BF16}) == "BF16 products");
    CHECK(name_of(Arithmetic{.storage = DType::BF16}) == "BF16");
}

#include "tensor/dtype.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace headscope;

namespace {

struct Type16 {
    std::uint16_t (*to)(float);
    float (*from)(std::uint16_t);
    std::uint16_t infinity;
};

// Between each two neighbours of the type the middle rounds to the even one, everything else to the nearer one.
void check_every_gap(const Type16& type) {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits + 1 < type.infinity; ++bits) {
        const auto lower = static_cast<std::uint16_t>(bits);
        const auto upper = static_cast<std::uint16_t>(bits + 1);
        const float middle = static_cast<float>((double{type.from(lower)} + double{type.from(upper)}) / 2);
        const std::uint16_t even = lower % 2 == 0 ? lower : upper;
        wrong += type.to(type.from(lower)) != lower;
        wrong += type.to(middle) != even;
        wrong += type.to(-middle) != (even | 0x8000U);
        wrong += type.to(std::nextafter(middle, -1.0F)) != lower;
        wrong += type.to(std::nextafter(middle, std::numeric_limits<float>::max())) != upper;
    }
    CHECK(wrong == 0);
}

void check_special_values(const Type16& type) {
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(type.to(infinity) == type.infinity);
    CHECK(type.to(-infinity) == (type.infinity | 0x8000U));
    CHECK(type.from(type.infinity) == infinity);
    CHECK(type.to(0.0F) == 0);
    CHECK(type.to(-0.0F) == 0x8000U);
    CHECK(std::signbit(type.from(0x8000U)));
    CHECK(std::isnan(type.from(type.to(std::numeric_limits<float>::quiet_NaN()))));
    // A NaN whose set bits would all be cut off stays NaN.
    CHECK(std::isnan(type.from(type.to(std::bit_cast<float>(0x7f800001U)))));
}

}  // namespace

TEST_CASE("F16 rounds to nearest, ties to even, subnormal numbers included", "[dtype]") {
    const Type16 f16{to_f16, from_f16, 0x7c00U};
    check_every_gap(f16);
    check_special_values(f16);
    CHECK(from_f16(0x3c00U) == 1.0F);
    CHECK(from_f16(0x0001U) == std::ldexp(1.0F, -24));
    CHECK(from_f16(0x7bffU) == 65504.0F);
    CHECK(to_f16(65519.996F) == 0x7bffU);
    CHECK(to_f16(65520.0F) == 0x7c00U);  // half a step past the largest number, and that is odd
    CHECK(to_f16(1e30F) == 0x7c00U);
    CHECK(to_f16(std::ldexp(1.0F, -25)) == 0);
    CHECK(to_f16(std::ldexp(1.5F, -25)) == 1);
}

TEST_CASE("BF16 rounds to nearest, ties to even", "[dtype]") {
    const Type16 bf16{to_bf16, from_bf16, 0x7f80U};
    check_every_gap(bf16);
    check_special_values(bf16);
    CHECK(from_bf16(0x3f80U) == 1.0F);
    CHECK(to_bf16(3.14159274F) == 0x4049U);
    CHECK(to_bf16(std::numeric_limits<float>::max()) == 0x7f80U);
}

TEST_CASE("every dtype has its size and its safetensors name", "[dtype]") {
    CHECK(size_of(DType::F64) == 8);
    CHECK(size_of(DType::F32) == 4);
    CHECK(size_of(DType::I32) == 4);
    CHECK(size_of(DType::F16) == 2);
    CHECK(size_of(DType::BF16) == 2);
    CHECK(size_of(DType::I8) == 1);
    CHECK(std::string(name_of(DType::BF16)) == "BF16");
    CHECK(std::string(name_of(DType::I32)) == "I32");
}

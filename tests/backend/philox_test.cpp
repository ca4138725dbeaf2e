#include "backend/philox.h"

#include <catch2/catch.hpp>

#include "backend/ops.h"

using namespace headscope;

// The known answers that accompany Salmon et al.'s Random123 for philox4x32-10.
TEST_CASE("Philox gives the published numbers", "[philox]") {
    CHECK(philox({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
          PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a dropout rate becomes a 16-bit threshold", "[philox]") {
    CHECK(dropout_threshold(0.0F) == 0);
    CHECK(dropout_threshold(0.5F) == 32768);
    CHECK(dropout_threshold(0.1F) == 6554);
}

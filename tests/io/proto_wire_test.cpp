#include "io/proto_wire.h"

#include <catch2/catch.hpp>

using namespace headscope;

TEST_CASE("written fields are read back", "[wire]") {
    std::string inner;
    append_float(inner, 2, 0.5F);
    std::string message;
    append_varint(message, 1, 300);
    append_double(message, 20, -1.25);  // skipped
    append_bytes(message, 3, inner);
    append_varint(message, 536870911, ~std::uint64_t{0});
    WireReader reader(message);
    REQUIRE(reader.next());
    CHECK(reader.field() == 1);
    CHECK(reader.varint() == 300);
    REQUIRE(reader.next());
    CHECK(reader.field() == 20);
    REQUIRE(reader.next());
    CHECK(reader.field() == 3);
    WireReader nested = reader.message();
    REQUIRE(nested.next());
    CHECK(nested.float32() == 0.5F);
    CHECK_FALSE(nested.next());
    REQUIRE(reader.next());
    CHECK(reader.field() == 536870911);
    CHECK_THROWS_AS(reader.bytes(), WireError);
    CHECK(reader.varint() == ~std::uint64_t{0});
    CHECK_FALSE(reader.next());
    for (std::size_t size = 1; size < 3; ++size) {
        WireReader cut(std::string_view(message).substr(0, size));
        CHECK_THROWS_AS((cut.next(), cut.varint()), WireError);
    }
}

#include <catch2/catch.hpp>

#include "backend/arena.h"
#include "support/check.h"
#include "support/random.h"

using headscope::Arena;
using headscope::ArenaPlace;
using headscope::CheckFailure;
using headscope::Random;

TEST_CASE("the arena gives aligned ranges that do not overlap", "[arena]") {
    Arena arena(256);
    arena.add_block(1 << 20);
    arena.add_block(1 << 19);
    Random random(7);
    std::vector<ArenaPlace> live;
    const auto overlap = [](const ArenaPlace& a, const ArenaPlace& b) {
        return a.block == b.block && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
    };
    for (int step = 0; step < 3000; ++step) {
        if (!live.empty() && random.below(5) < 2) {
            const std::size_t index = random.below(live.size());
            arena.give_back(live[index]);
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(index));
            continue;
        }
        const auto place = arena.take(random.below(20000));
        if (!place) {
            continue;
        }
        REQUIRE(place->offset % 256 == 0);
        REQUIRE(place->bytes > 0);
        REQUIRE(place->offset + place->bytes <= (place->block == 0 ? 1U << 20U : 1U << 19U));
        for (const ArenaPlace& other : live) {
            REQUIRE_FALSE(overlap(*place, other));
        }
        live.push_back(*place);
    }
    for (const ArenaPlace& place : live) {
        arena.give_back(place);
    }
    CHECK(arena.empty_blocks() == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("freed neighbours merge, and the same sizes get the same places", "[arena]") {
    Arena arena(256);
    arena.add_block(4096);
    for (int round = 0; round < 2; ++round) {
        const auto a = arena.take(1024);
        const auto b = arena.take(1024);
        const auto c = arena.take(2048);
        REQUIRE((a && b && c));
        CHECK(a->offset == 0);
        CHECK(b->offset == 1024);
        CHECK(c->offset == 2048);
        CHECK_FALSE(arena.take(1).has_value());
        arena.give_back(*a);
        arena.give_back(*c);
        arena.give_back(*b);
    }
    CHECK(arena.take(4096).has_value());
}

TEST_CASE("freeing a range twice is detected", "[arena]") {
    Arena arena(256);
    arena.add_block(4096);
    const auto a = arena.take(256);
    const auto b = arena.take(256);
    REQUIRE((a && b));
    arena.give_back(*a);
    CHECK_THROWS_AS(arena.give_back(*a), CheckFailure);
    CHECK_THROWS_AS(arena.remove_block(0), CheckFailure);
    arena.give_back(*b);
    arena.remove_block(0);
    CHECK_FALSE(arena.take(1).has_value());
    CHECK(arena.add_block(512) == 0);
}

#include <catch2/catch.hpp>
#include <cstdint>

#include "backends/cpu/memory/host_arena.h"
#include "support/check.h"

using namespace headscope;

namespace {

std::byte* address(const std::shared_ptr<Buffer>& buffer) {
    return static_cast<const HostBuffer&>(*buffer).data();
}

}  // namespace

TEST_CASE("the same requests get the same addresses", "[arena]") {
    HostArena arena;
    const std::vector<std::size_t> sizes{100, 5000, 1 << 20, 5000, 64, 3 << 20};
    std::vector<std::byte*> first;
    for (int step = 0; step < 3; ++step) {
        std::vector<std::shared_ptr<Buffer>> live;
        std::vector<std::byte*> addresses;
        for (const std::size_t bytes : sizes) {
            live.push_back(arena.allocate(bytes));
            CHECK(live.back()->bytes() == bytes);
            addresses.push_back(address(live.back()));
            CHECK(reinterpret_cast<std::uintptr_t>(addresses.back()) % 64 == 0);
        }
        while (!live.empty()) {
            live.pop_back();  // last in, first out, like a tape
        }
        if (step == 0) {
            first = addresses;
        }
        CHECK(addresses == first);
    }
}

TEST_CASE("an arena counts live, peak and kept bytes", "[arena]") {
    HostArena arena;
    auto a = arena.allocate(1 << 20);
    CHECK(arena.use().live == 1 << 20);
    auto b = arena.allocate(1 << 20);
    a.reset();
    b.reset();
    CHECK(arena.use().live == 0);
    CHECK(arena.use().peak == 2 << 20);
    CHECK(arena.reserved() == 2 << 20);
    // A slightly smaller request takes a kept block instead of more memory.
    a = arena.allocate((1 << 20) - 300'000);
    CHECK(arena.reserved() == 2 << 20);
    // A much smaller one does not.
    b = arena.allocate(1000);
    CHECK(arena.reserved() > 2 << 20);
}

TEST_CASE("an arena gives back all that it keeps when it is asked to", "[arena]") {
    HostArena arena;
    const auto live = arena.allocate(1000);
    arena.allocate(1 << 20).reset();
    CHECK(arena.reserved() > 1 << 20);
    arena.trim();
    CHECK(arena.reserved() == arena.use().live);
}

TEST_CASE("blocks that no longer fit any request are returned to the system", "[arena]") {
    HostArena arena;
    for (std::size_t megabytes = 1; megabytes <= 64; megabytes *= 2) {
        const auto buffer = arena.allocate(megabytes << 20U);
        CHECK(arena.reserved() <= 2 * arena.use().peak);
    }
    CHECK(arena.use().peak == 64 << 20);
    CHECK(arena.reserved() > 64 << 20);  // but some are kept
    for (std::size_t megabytes = 33; megabytes > 4; megabytes -= 4) {
        const auto buffer = arena.allocate(megabytes << 20U);
        CHECK(arena.reserved() <= 2 * arena.use().peak);
    }
}

TEST_CASE("allocated memory outlives the arena", "[arena]") {
    std::shared_ptr<Buffer> buffer;
    {
        HostArena arena;
        buffer = arena.allocate(4096);
    }
    address(buffer)[4095] = std::byte{1};
    CHECK(buffer->bytes() == 4096);
}

TEST_CASE("a request that the system cannot meet is an error with its size", "[arena]") {
    HostArena arena;
    const auto live = arena.allocate(8 << 20);
    CHECK_THROWS_WITH(arena.allocate(std::size_t{1} << 62U), Catch::Matchers::Contains("out of memory") &&
                                                                 Catch::Matchers::Contains("4398046511104 MiB") &&
                                                                 Catch::Matchers::Contains("8 MiB are in use"));
    CHECK(arena.use().live == 8 << 20);
}

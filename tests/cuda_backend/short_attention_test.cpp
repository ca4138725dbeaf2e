// What a block of short attention holds, and when it is used.
#include "backends/cuda/short_attention.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "backend/ops/attention.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/long_attention.h"
#include "emulator.h"
#include "tests/support/variable.h"

using namespace headscope;
using namespace headscope::cuda;

namespace {

struct Size {
    std::int64_t queries = 40;
    std::int64_t keys = 40;
    std::int64_t depth = 64;
    DType dtype = DType::BF16;
    Compute compute = Compute::F32;
};

// The threads of a block of the op's last launch: a multiple of 128 in the other kernels, whatever the size.
struct Threads {
    unsigned forward = 0;
    unsigned backward = 0;
    bool operator==(const Threads&) const = default;
};
constexpr Threads kOther{128, 128};

Threads threads_of(const Size& size, const char* disabled = "") {
    Settings settings;
    settings.set(kDisableKernels, disabled);
    CudaBackend backend(0, {.disabled = DisabledKernels::from(settings)});
    const auto make = [&](std::int64_t rows, DType dtype) {
        const Shape shape{2, 3, rows, size.depth};
        return make_from_host(backend, shape, dtype, std::vector<double>(static_cast<std::size_t>(shape.elements())));
    };
    const Attention forward{.q = make(size.queries, size.dtype),
                            .k = make(size.keys, size.dtype),
                            .v = make(size.keys, size.dtype),
                            .out = make(size.queries, size.dtype),
                            .log_sums = backend.empty({2, 3, size.queries}, DType::F32),
                            .compute = size.compute};
    Threads threads;
    backend.run(forward);
    threads.forward = cuda_emulation::last_launch().block.x;
    backend.run(AttentionBackward{.q = forward.q,
                                  .k = forward.k,
                                  .v = forward.v,
                                  .out = forward.out,
                                  .grad_out = make(size.queries, size.dtype),
                                  .log_sums = forward.log_sums,
                                  .grad_q = make(size.queries, size.dtype),
                                  .compute = size.compute});
    threads.backward = cuda_emulation::last_launch().block.x;
    return threads;
}

}  // namespace

TEST_CASE("a block's tiles are neighbours of 16 bytes, and rows are in different banks", "[cuda][attention]") {
    for (const bool backward : {false, true}) {
        for (int query_tiles = 1; query_tiles <= 8; ++query_tiles) {
            for (int key_tiles = 1; key_tiles <= 8; ++key_tiles) {
                const ShortLayout layout{
                    .query_tiles = query_tiles, .key_tiles = key_tiles, .depth = 64, .backward = backward};
                CHECK(layout.is_short());
                CHECK(layout.pitch() * 2 / 16 % 2 == 1);
                CHECK(layout.weights_pitch() * 2 / 16 % 2 == 1);
                for (const int place : {layout.queries(), layout.grad_out(), layout.keys(), layout.values(),
                                        layout.weights(), layout.grad_scores(), layout.kept()}) {
                    CHECK(place % 16 == 0);
                }
                CHECK(layout.warps() == (backward ? std::max(query_tiles, key_tiles) : query_tiles));
            }
        }
    }
}

TEST_CASE("in TF32 cards have shared memory for the backward of so many positions", "[cuda][attention]") {
    const auto most = [](int depth, int kibibytes) {
        int tiles = 0;
        while (ShortLayout{
                   .query_tiles = tiles + 1, .key_tiles = tiles + 1, .depth = depth, .backward = true, .element = 4}
                   .bytes(true) <= kibibytes * 1024) {
            ++tiles;
        }
        return tiles * kTileRows;
    };
    CHECK(most(64, 227) == 112);  // H100
    CHECK(most(128, 227) == 80);
    CHECK(most(64, 163) == 80);  // A100
    CHECK(most(128, 163) == 48);
}

TEST_CASE("a block has a warp for each 16 queries, in the backward of keys, too", "[cuda][attention]") {
    CHECK(threads_of({}) == Threads{96, 96});
    CHECK(threads_of({.dtype = DType::F16}) == Threads{96, 96});
    CHECK(threads_of({.queries = 5, .keys = 100}) == Threads{32, 224});
    CHECK(threads_of({.queries = 100, .keys = 1, .depth = 24}) == Threads{224, 224});
    CHECK(threads_of({.queries = 128, .keys = 128, .depth = 128}) == Threads{256, 256});
    CHECK(threads_of({.queries = 1}) == Threads{128, 96});  // one query has a kernel of its own
}

TEST_CASE("more than 128 positions go over the keys in tiles, a warp for each 16 queries", "[cuda][attention]") {
    CHECK(threads_of({.queries = 5, .keys = 129}) == Threads{32, 32});
    CHECK(threads_of({.queries = 40, .keys = 129}) == Threads{96, 96});
    CHECK(threads_of({.queries = 40, .keys = 129}, "long_attention_backward") == Threads{96, 128});
    CHECK(threads_of({}, "attention") == Threads{96, 96});
    for (const int depth : {32, 64, 128}) {
        const LongLayout layout{.depth = depth};
        for (const int place : {layout.keys(0), layout.values(0), layout.keys(1), layout.values(1), layout.kept(3)}) {
            CHECK(place % 16 == 0);
        }
        CHECK(layout.bytes(true) <= 99 * 1024);  // what cards of sm_86 give
        for (const bool owns_keys : {false, true}) {
            const LongBackLayout back{.depth = depth, .owns_keys = owns_keys};
            for (const int place : {back.own(0), back.own(1), back.passing(0, 0), back.passing(0, 1),
                                    back.passing(1, 1), back.rows(0), back.rows(1), back.kept(3)}) {
                CHECK(place % 16 == 0);
            }
            CHECK(back.bytes(true) <= 99 * 1024);
        }
    }
}

TEST_CASE("float32 runs on tensor cores where products may be rounded", "[cuda][attention]") {
    for (const Compute compute : {Compute::TF32, Compute::BF16, Compute::F16}) {
        CHECK(threads_of({.dtype = DType::F32, .compute = compute}) == Threads{96, 96});
        CHECK(threads_of({.queries = 40, .keys = 129, .dtype = DType::F32, .compute = compute}) == Threads{96, 96});
    }
    const Size tf32{.dtype = DType::F32, .compute = Compute::TF32};
    CHECK(threads_of(tf32, "tf32_attention") == kOther);
    CHECK(threads_of({}, "tf32_attention") == Threads{96, 96});
    CHECK(threads_of({.depth = 20, .dtype = DType::F32, .compute = Compute::TF32}) == Threads{96, 96});
    CHECK(threads_of({.depth = 18, .dtype = DType::F32, .compute = Compute::TF32}) == kOther);
    const Variable sm("HEADSCOPE_EMULATION_SM", std::string("75"));
    CHECK(threads_of(tf32) == kOther);
}

TEST_CASE("what does not fit goes to the kernels that every card has", "[cuda][attention]") {
    CHECK(threads_of({.dtype = DType::F32}) == kOther);
    CHECK(threads_of({.queries = 129}, "long_attention") == kOther);
    CHECK(threads_of({.keys = 129}, "long_attention,long_attention_backward") == kOther);
    CHECK(threads_of({.depth = 136}).forward == 128);
    CHECK(threads_of({.depth = 20}) == kOther);  // rows that do not begin at multiples of 16 bytes
    CHECK(threads_of({}, "attention,long_attention") == Threads{128, 96});
    CHECK(threads_of({}, "attention_backward,long_attention_backward") == Threads{96, 128});
    SECTION("an older card") {
        const Variable sm("HEADSCOPE_EMULATION_SM", std::string("75"));
        CHECK(threads_of({}) == kOther);
    }
    SECTION("a module of PTX for older cards") {
        const Variable ptx("HEADSCOPE_EMULATION_PTX", std::string("75"));
        CHECK(threads_of({}) == kOther);
    }
    SECTION("a card with less shared memory") {
        const Variable sm("HEADSCOPE_EMULATION_SM", std::string("86"));
        CHECK(threads_of({.queries = 96, .keys = 96}) == Threads{192, 192});
        const Size deep{.queries = 40, .keys = 128, .depth = 128};
        CHECK(threads_of(deep) == Threads{96, 96});  // of 256, if the backward were short
        CHECK(threads_of(deep, "long_attention_backward") == Threads{96, 128});
        CHECK(threads_of({.queries = 5, .keys = 200, .depth = 128}).forward == 32);
        CHECK(threads_of({.queries = 5, .keys = 200, .depth = 128, .dtype = DType::F32, .compute = Compute::TF32}) ==
              kOther);
    }
}

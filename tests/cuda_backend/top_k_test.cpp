// How a row of logits is divided among blocks, and which rows are.
#include "backends/cuda/top_k.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "backends/cuda/cuda_backend.h"
#include "emulator.h"

using namespace headscope;
using namespace headscope::cuda;

TEST_CASE("parts cover a row, are aligned, and fit the registers of their threads", "[top_k]") {
    for (const std::int64_t classes : {1, 3, 4096, 4097, 8192, 8203, 37000, 131071, 131072}) {
        const RowParts parts{classes};
        INFO(classes);
        CHECK(parts.fit());
        CHECK(parts.count() <= kMostParts);
        CHECK(parts.length() % 8 == 0);
        CHECK(parts.length() * (parts.count() - 1) < classes);
        CHECK(std::int64_t{parts.length()} * parts.count() >= classes);
        CHECK(parts.threads() % 32 == 0);
        CHECK(parts.threads() <= kPartThreads);
        CHECK(parts.threads() * kHeldLogits >= parts.length());
    }
    CHECK_FALSE(RowParts{131073}.fit());
}

TEST_CASE("a block reads a part of a row, and one warp merges the parts", "[top_k]") {
    const auto last_launch = [](std::int64_t rows, std::int64_t classes, const char* disabled) {
        Settings settings;
        settings.set(kDisableKernels, disabled);
        CudaBackend backend(0, {.disabled = DisabledKernels::from(settings)});
        const std::vector<double> logits(static_cast<std::size_t>(rows * classes));
        backend.run(LogSoftmaxTopK{.logits = make_from_host(backend, {rows, classes}, DType::BF16, logits),
                                   .values = backend.empty({rows, 1}, DType::F32),
                                   .indices = backend.empty({rows, 1}, DType::I32)});
        const cuda_emulation::LaunchShape shape = cuda_emulation::last_launch();
        return std::pair{shape.grid.x, shape.block.x};
    };
    CHECK(last_launch(3, 600, "") == std::pair{3U, 64U});
    CHECK(last_launch(3, 4096, "") == std::pair{3U, 256U});
    CHECK(last_launch(3, 4097, "") == std::pair{3U, 32U});
    CHECK(last_launch(3, 4097, "top_k") == std::pair{3U, 1024U});
    CHECK(last_launch(1, 131073, "") == std::pair{1U, 1024U});
}

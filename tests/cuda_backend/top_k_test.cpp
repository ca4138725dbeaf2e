// How a row of logits is divided among blocks, and which rows are.
#include "backends/cuda/top_k.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "backend/ops/search.h"
#include "backends/cuda/cuda_backend.h"
#include "emulator.h"

using namespace headscope;
using namespace headscope::cuda;

TEST_CASE("parts cover a row, are aligned, and fit the registers of their threads", "[top_k]") {
    for (const std::int64_t classes : {1, 3, 4096, 4097, 8192, 8203, 37000, 131071, 131072}) {
        const ClassParts parts{classes};
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
    CHECK_FALSE(ClassParts{131073}.fit());
}

namespace {

struct Launched {
    unsigned blocks = 0, threads = 0;
    bool operator==(const Launched&) const = default;
};

// The last launch. Checks the results, too: the last class of each row is the best, and all others are equal.
Launched last_launch(std::int64_t rows, std::int64_t classes, const char* disabled = "") {
    Settings settings;
    settings.set(kDisableKernels, disabled);
    CudaBackend backend(0, {.disabled = DisabledKernels::from(settings)});
    std::vector<double> logits(static_cast<std::size_t>(rows * classes));
    for (std::size_t row = 1; row <= static_cast<std::size_t>(rows); ++row) {
        logits[row * static_cast<std::size_t>(classes) - 1] = 2.0;
    }
    const LogSoftmaxTopK op{.logits = make_from_host(backend, {rows, classes}, DType::BF16, logits),
                            .values = backend.empty({rows, 2}, DType::F32),
                            .indices = backend.empty({rows, 2}, DType::I32)};
    backend.run(op);
    const cuda_emulation::LaunchShape shape = cuda_emulation::last_launch();
    const double log_sum = std::log(static_cast<double>(classes - 1) + std::exp(2.0));
    const std::vector<double> values = to_host<double>(backend, op.values);
    const std::vector<double> indices = to_host<double>(backend, op.indices);
    for (std::size_t i = 0; i < values.size(); i += 2) {
        CHECK(values[i] == Approx(2.0 - log_sum).epsilon(1e-5));
        CHECK(values[i + 1] == Approx(-log_sum).epsilon(1e-5));
        CHECK(indices[i] == static_cast<double>(classes - 1));
        CHECK(indices[i + 1] == 0.0);
    }
    return {shape.grid.x, shape.block.x};
}

}  // namespace

TEST_CASE("a block reads a part of a row, and one warp merges the parts", "[top_k]") {
    CHECK(last_launch(3, 600) == Launched{3, 64});
    CHECK(last_launch(3, 4096) == Launched{3, 256});
    CHECK(last_launch(3, 4097) == Launched{3, 32});
    CHECK(last_launch(1, 131072) == Launched{1, 32});
    CHECK(last_launch(3, 4097, "top_k") == Launched{3, 1024});
    CHECK(last_launch(1, 131073) == Launched{1, 1024});
}

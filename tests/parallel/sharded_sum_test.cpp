#include <catch2/catch.hpp>

#include <cmath>
#include <mutex>

#include "backend/ops/elementwise.h"
#include "parallel/sharded_sum.h"
#include "registry/registry.h"
#include "support/random.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "tests/parallel/threads.h"

using namespace headscope;

namespace {

constexpr std::int64_t kElements = 16 * 301;

std::vector<double> gradient_of(int shard) {
    Random random(static_cast<std::uint64_t>(shard) + 1);
    std::vector<double> values(kElements);
    for (double& value : values) {
        value = static_cast<float>((random.uniform() - 0.5) * std::exp2(random.below(20)));
    }
    return values;
}

struct Sums {
    std::vector<double> sum = std::vector<double>(kElements);
    std::vector<double> shared;    // after share(), of rank 0
    std::vector<float> collected;  // of rank 0
};

// The sum of the shards' gradients over ranks, put together from their slices.
Sums sum_of(int shards, int count, const std::string& device = "cpu") {
    Sums found;
    std::mutex writing;
    require_on_ranks(count, [&](Communicator& ranks) {
        const auto backend = open_device(device, environment_options());
        const Tensor flat = backend->empty({kElements}, DType::F32);
        ShardedSum sum(*backend, flat, shards, ranks);
        for (int step = 0; step < 2; ++step) {  // the second finds the memory of the first
            sum.begin();
            for (int shard = sum.mine().first; shard < sum.mine().end; ++shard) {
                from_host(*backend, flat, gradient_of(shard));
                sum.add(shard);
            }
            sum.reduce();
        }
        const FlatRange slice = sum.slice();
        const auto mine = to_host<double>(*backend, flat.narrow(0, slice.begin, slice.elements));
        const Tensor copy = make_from_host(*backend, {slice.elements}, DType::F32, mine);
        const std::vector<std::byte> whole = sum.collect(copy);
        sum.share(flat);
        const std::lock_guard lock(writing);
        std::copy(mine.begin(), mine.end(), found.sum.begin() + slice.begin);
        if (ranks.leads()) {
            found.shared = to_host<double>(*backend, flat);
            found.collected.resize(whole.size() / sizeof(float));
            std::memcpy(found.collected.data(), whole.data(), whole.size());
        }
    });
    return found;
}

}  // namespace

TEST_CASE("the sum over shards is near the exact one", "[sharded_sum]") {
    const int shards = GENERATE(2, 4, 8);
    std::vector<double> exact(kElements), size(kElements);
    for (int shard = 0; shard < shards; ++shard) {
        const std::vector<double> one = gradient_of(shard);
        for (std::size_t i = 0; i < exact.size(); ++i) {
            exact[i] += one[i];
            size[i] += std::abs(one[i]);
        }
    }
    const Sums found = sum_of(shards, 1);
    for (std::size_t i = 0; i < exact.size(); ++i) {
        // Each of the tree's additions rounds by at most half a unit.
        REQUIRE(std::abs(found.sum[i] - exact[i]) <= std::log2(shards) * 6e-8 * size[i]);
    }
}

TEST_CASE("any number of ranks gets the same bits", "[sharded_sum]") {
    const int shards = GENERATE(4, 8);
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const Sums one = sum_of(shards, 1, device);
    for (const int ranks : {2, 3, 4}) {
        CAPTURE(device, shards, ranks);
        const Sums found = sum_of(shards, ranks, device);
        CHECK(found.sum == one.sum);
        CHECK(found.shared == one.sum);
        CHECK(std::vector<double>(found.collected.begin(), found.collected.end()) == one.sum);
    }
}

TEST_CASE("slices and ranges cover the buffer", "[sharded_sum]") {
    require_on_ranks(3, [](Communicator& ranks) {
        const auto backend = open_device("cpu", environment_options());
        const ShardedSum sum(*backend, backend->empty({kElements}, DType::F32), 4, ranks);
        std::int64_t next = 0;
        for (int number = 0; number < ShardedSum::kRanges; ++number) {
            const FlatRange range = sum.range(number);
            HEADSCOPE_CHECK(range.begin == next && range.elements % 16 == 0 && range.elements > 0, "a hole");
            next += range.elements;
        }
        HEADSCOPE_CHECK(next == kElements, "the end");
        next = 0;
        for (int rank = 0; rank < 3; ++rank) {
            HEADSCOPE_CHECK(sum.slice_of(rank).begin == next, "a hole between slices");
            next += sum.slice_of(rank).elements;
        }
        HEADSCOPE_CHECK(next == kElements, "the last slice");
    });
}

// A share of pairs with the targets of others.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "data/wrong_targets.h"

using namespace headscope;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs written(int pairs, double share, std::uint64_t seed) {
    Pairs all;
    WrongTargets wrong(share, seed,
                       [&](const std::string& source, const std::string& target) { all.emplace_back(source, target); });
    for (int i = 0; i < pairs; ++i) {
        wrong.add("s" + std::to_string(i), "t" + std::to_string(i));
    }
    wrong.end();
    const auto moved = std::count_if(all.begin(), all.end(),
                                     [](const auto& pair) { return pair.first.substr(1) != pair.second.substr(1); });
    CHECK(moved == wrong.count());
    return all;
}

}  // namespace

TEST_CASE("a share of pairs get the targets of others", "[wrong_targets]") {
    const Pairs noisy = written(10'000, 0.2, 1);
    std::vector<std::string> targets;
    const auto wrong = std::count_if(noisy.begin(), noisy.end(), [&](const auto& pair) {
        targets.push_back(pair.second);
        return pair.first.substr(1) != pair.second.substr(1);
    });
    CHECK(wrong == Approx(2000).margin(120));  // three standard deviations
    std::sort(targets.begin(), targets.end());
    CHECK(targets.size() == 10'000);
    CHECK(std::adjacent_find(targets.begin(), targets.end()) == targets.end());
    CHECK(noisy == written(10'000, 0.2, 1));
    CHECK(noisy != written(10'000, 0.2, 2));
}

TEST_CASE("all targets or none can be wrong", "[wrong_targets]") {
    CHECK(written(3, 0.0, 1) == Pairs{{"s0", "t0"}, {"s1", "t1"}, {"s2", "t2"}});
    CHECK(written(3, 1.0, 1) == Pairs{{"s1", "t0"}, {"s2", "t1"}, {"s0", "t2"}});
    CHECK(written(1, 1.0, 1) == Pairs{{"s0", "t0"}});
    CHECK(written(0, 1.0, 1).empty());
}

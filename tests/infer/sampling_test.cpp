// Randomly sampled outputs.
#include "infer/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <catch2/catch.hpp>

#include "fake_scorer.h"
#include "support/check.h"

using namespace headscope;

namespace {

std::vector<TokenChance> chances(const std::vector<double>& probabilities) {
    std::vector<TokenChance> all;
    for (const double probability : probabilities) {
        all.push_back({static_cast<std::int32_t>(all.size()), std::log(probability)});
    }
    return all;
}

// How often each of them is sampled in 20,000 lines.
std::vector<double> frequencies(const std::vector<double>& probabilities, const SearchOptions& options) {
    constexpr std::uint32_t kDraws = 20'000;
    std::vector<double> counts(probabilities.size());
    const std::vector<TokenChance> all = chances(probabilities);
    for (std::uint32_t line = 0; line < kDraws; ++line) {
        counts[draw(all, options, {.line = line})] += 1.0 / kDraws;
    }
    return counts;
}

void check_near(const std::vector<double>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] == Approx(expected[i]).margin(0.015));  // 4 standard deviations of 20,000 samples
    }
}

std::vector<Hypothesis> sample(FakeScorer& scorer, const std::vector<SearchTask>& tasks, SearchOptions options) {
    std::vector<Hypothesis> drawn;
    options.beam = 1;
    options.sample = true;
    for (auto& list : search_tasks(scorer, tasks, kBos, fake_rules(), options)) {
        REQUIRE(list.size() == 1);
        drawn.push_back(list.front());
    }
    return drawn;
}

}  // namespace

TEST_CASE("tokens are sampled according to their probabilities") {
    check_near(frequencies({0.5, 0.3, 0.15, 0.05}, {}), {0.5, 0.3, 0.15, 0.05});
    check_near(frequencies({0.5, 0.3, 0.15, 0.05}, {.seed = 1ULL << 40U}), {0.5, 0.3, 0.15, 0.05});
    check_near(frequencies({0.8, 0.2}, {.temperature = 0.5}), {0.64 / 0.68, 0.04 / 0.68});
    check_near(frequencies({0.8, 0.2}, {.temperature = 1e6}), {0.5, 0.5});
}

TEST_CASE("top-k and top-p renormalize the remaining tokens") {
    check_near(frequencies({0.1, 0.5, 0.3, 0.1}, {.top_k = 2}), {0.0, 0.625, 0.375, 0.0});
    check_near(frequencies({0.1, 0.5, 0.3, 0.1}, {.top_k = 50}), {0.1, 0.5, 0.3, 0.1});
    check_near(frequencies({0.1, 0.5, 0.3, 0.1}, {.top_p = 0.6}), {0.0, 0.625, 0.375, 0.0});
    check_near(frequencies({0.1, 0.5, 0.3, 0.1}, {.top_p = 1e-9}), {0.0, 1.0, 0.0, 0.0});
    // Ties keep the smaller token; top-p applies to what top-k left.
    check_near(frequencies({0.25, 0.25, 0.25, 0.25}, {.top_k = 1}), {1.0, 0.0, 0.0, 0.0});
    check_near(frequencies({0.4, 0.3, 0.2, 0.1}, {.top_k = 2, .top_p = 0.55}), {1.0, 0.0, 0.0, 0.0});
}

TEST_CASE("min-p keeps tokens within a share of the likeliest") {
    check_near(frequencies({0.1, 0.5, 0.3, 0.1}, {.min_p = 0.5}), {0.0, 0.625, 0.375, 0.0});
    check_near(frequencies({0.1, 0.5, 0.3, 0.1}, {.min_p = 0.61}), {0.0, 1.0, 0.0, 0.0});
    check_near(frequencies({0.25, 0.5, 0.25}, {.min_p = 0.5}), {0.25, 0.5, 0.25});  // exactly the share
    check_near(frequencies({0.5, 0.5}, {.min_p = 1.0}), {0.5, 0.5});
    check_near(frequencies({0.1, 0.5, 0.3, 0.1}, {}), {0.1, 0.5, 0.3, 0.1});
}

namespace {

// The distribution that temperature, top-k, top-p and min-p leave, in transformers' order: each works on the
// probabilities that the one before has left, of which transformers sets the others to 0.
std::vector<double> warped(std::vector<double> chances, const SearchOptions& options) {
    const auto normalise = [&] {
        const double sum = std::accumulate(chances.begin(), chances.end(), 0.0);
        for (double& chance : chances) {
            chance /= sum;
        }
    };
    for (double& chance : chances) {
        chance = std::pow(chance, 1.0 / options.temperature);
    }
    normalise();
    std::vector<double> sorted = chances;
    std::sort(sorted.rbegin(), sorted.rend());
    double least = options.top_k > 0 ? sorted[static_cast<std::size_t>(options.top_k) - 1] : 0.0;
    std::erase_if(sorted, [&](double chance) { return chance < least; });
    const double all = std::accumulate(sorted.begin(), sorted.end(), 0.0);
    double sum = 0.0;
    for (std::size_t i = 0; i < sorted.size() && sum < options.top_p * all; ++i) {
        sum += sorted[i];
        least = sorted[i];
    }
    least = std::max(least, options.min_p * sorted.front());
    for (double& chance : chances) {
        chance = chance < least ? 0.0 : chance;
    }
    normalise();
    return chances;
}

}  // namespace

TEST_CASE("min-p follows temperature, top-k and top-p") {
    const std::vector<double> chances{0.30, 0.02, 0.22, 0.16, 0.03, 0.12, 0.08, 0.07};
    for (const SearchOptions& options : {SearchOptions{.min_p = 0.2},
                                         {.temperature = 2.0, .min_p = 0.5},
                                         {.temperature = 0.5, .min_p = 0.1},
                                         {.top_k = 5, .min_p = 0.3},
                                         {.top_k = 3, .min_p = 0.3},
                                         {.top_p = 0.7, .min_p = 0.6},
                                         {.temperature = 1.5, .top_k = 6, .top_p = 0.9, .min_p = 0.35}}) {
        INFO(options.temperature << " " << options.top_k << " " << options.top_p << " " << options.min_p);
        check_near(frequencies(chances, options), warped(chances, options));
    }
}

TEST_CASE("a sample depends only on seed, line, part and position") {
    const std::vector<TokenChance> all = chances(std::vector<double>(64, 1.0 / 64));
    const DrawKey key{.line = 3, .part = 1, .position = 7};
    const std::size_t first = draw(all, {}, key);
    CHECK(draw(all, {}, key) == first);
    std::set<std::size_t> others;
    for (std::uint32_t i = 0; i < 12; ++i) {
        others.insert(draw(all, {.seed = 2 + i}, key));
        others.insert(draw(all, {}, {.line = 4 + i, .part = 1, .position = 7}));
        others.insert(draw(all, {}, {.line = 3, .part = 2 + i, .position = 7}));
        others.insert(draw(all, {}, {.line = 3, .part = 1, .position = 8 + i}));
    }
    CHECK(others.size() > 20);
    // In any order, and with any number of unlikely tokens added.
    std::vector<TokenChance> turned(all.rbegin(), all.rend());
    CHECK(turned[draw(turned, {}, key)].token == all[first].token);
    turned.push_back({100, -1000.0});
    CHECK(turned[draw(turned, {}, key)].token == all[first].token);
}

TEST_CASE("a sampled output does not depend on its batch and ends at eos") {
    const std::int64_t vocabulary = kFirstWord + 90;
    const auto table = random_table(7, vocabulary, 3.0F);
    const std::vector<SearchTask> tasks{{.limit = 9, .line = 0}, {.limit = 30, .line = 1}, {.limit = 30, .line = 2}};
    const SearchOptions sampling{.temperature = 0.9, .top_k = 40, .top_p = 0.95, .seed = 5};
    FakeScorer together(3, vocabulary, table);
    const std::vector<Hypothesis> batch = sample(together, tasks, sampling);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        FakeScorer alone(1, vocabulary,
                         [&](std::int64_t, const auto& prefix) { return table(static_cast<std::int64_t>(i), prefix); });
        const Hypothesis found = sample(alone, {tasks[i]}, sampling).front();
        CHECK(found.tokens == batch[i].tokens);
        CHECK(found.log_probability == batch[i].log_probability);
        CHECK(std::count(found.tokens.begin(), found.tokens.end(), kEos) ==
              (found.end == EndReason::EndOfSentence ? 1 : 0));
    }
    FakeScorer other(3, vocabulary, table);
    CHECK(sample(other, tasks, {.seed = 6})[1].tokens != batch[1].tokens);
}

TEST_CASE("forbidden tokens are not sampled, and log probabilities are the model's own") {
    const std::int64_t vocabulary = kFirstWord + 2;
    std::vector<float> next(static_cast<std::size_t>(vocabulary), std::log(0.02F));
    next[kUnk] = std::log(0.9F);
    FakeScorer scorer(50, vocabulary, [&](std::int64_t, const FakeScorer::Prefix&) { return next; });
    std::vector<SearchTask> tasks;
    for (std::uint32_t line = 0; line < 50; ++line) {
        tasks.push_back({.limit = 12, .line = line});
    }
    bool ended = false;
    for (const Hypothesis& found : sample(scorer, tasks, {.temperature = 2.0})) {
        for (const std::int32_t token : found.tokens) {
            CHECK((token == kEos || token >= kFirstWord));
        }
        CHECK(found.log_probability == Approx(std::log(0.02) * static_cast<double>(found.tokens.size())).epsilon(1e-6));
        ended = ended || found.tokens.size() < 12;
    }
    CHECK(ended);
}

TEST_CASE("sampling without usable probabilities is unusable, as in a search") {
    FakeScorer scorer(1, 8, [](std::int64_t, const FakeScorer::Prefix&) {
        return std::vector<float>(8, std::numeric_limits<float>::quiet_NaN());
    });
    CHECK(sample(scorer, {{.limit = 5}}, {}).front().end == EndReason::Unusable);
}

TEST_CASE("sampling needs a beam of 1") {
    CHECK_THROWS_WITH(check_search_options({.beam = 4, .sample = true}), "sampling needs a beam of 1, got 4");
    CHECK_NOTHROW(check_search_options({.beam = 1, .sample = true}));
}

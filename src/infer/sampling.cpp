#include "infer/sampling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>

#include "backend/philox.h"
#include "support/check.h"

namespace headscope {

namespace {

// -log(-log(u)) of a uniform number: the argmax of log probabilities plus such noise is a sample from the distribution
// (Gumbel-max trick).
double gumbel(std::uint32_t bits) {
    constexpr double kSteps = 4294967296.0;
    const double uniform = (static_cast<double>(bits) + 0.5) / kSteps;
    return -std::log(-std::log(uniform));
}

double noise(std::int32_t token, const SearchOptions& options, const DrawKey& key) {
    const auto id = static_cast<std::uint32_t>(token);
    const PhiloxCounter words =
        philox({id / 4, key.position, key.part, key.line},
               {static_cast<std::uint32_t>(options.seed), static_cast<std::uint32_t>(options.seed >> 32U)});
    return gumbel(words[id % 4]);
}

// Keeps the shortest beginning of `order`, sorted best first, whose probabilities add up to top_p.
void keep_share(std::vector<std::size_t>& order, const std::vector<TokenChance>& allowed,
                const SearchOptions& options) {
    std::vector<double> weights;
    const double most = allowed[order.front()].log_probability;
    std::transform(order.begin(), order.end(), std::back_inserter(weights),
                   [&](std::size_t i) { return std::exp((allowed[i].log_probability - most) / options.temperature); });
    const double wanted = options.top_p * std::accumulate(weights.begin(), weights.end(), 0.0);
    std::size_t kept = 0;
    for (double sum = 0.0; kept < order.size() && sum < wanted; ++kept) {
        sum += weights[kept];
    }
    order.resize(std::max<std::size_t>(kept, 1));
}

// Keeps tokens that are at least min_p times as probable as the likeliest. What the others leave out doesn't change
// that.
void keep_near_best(std::vector<std::size_t>& order, const std::vector<TokenChance>& allowed,
                    const SearchOptions& options) {
    const auto chance = [&](std::size_t i) { return allowed[i].log_probability; };
    const double most = chance(*std::ranges::max_element(order, {}, chance));
    const double least = most + options.temperature * std::log(options.min_p);
    std::erase_if(order, [&](std::size_t i) { return chance(i) < least; });
}

}  // namespace

std::size_t draw(const std::vector<TokenChance>& allowed, const SearchOptions& options, const DrawKey& key) {
    HEADSCOPE_CHECK(!allowed.empty(), "sampling from an empty list");
    std::vector<std::size_t> order(allowed.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t few =
        options.top_k > 0 ? std::min(order.size(), static_cast<std::size_t>(options.top_k)) : order.size();
    if (few < order.size() || options.top_p < 1.0) {
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(few), order.end(),
                          [&](std::size_t a, std::size_t b) {
                              const TokenChance& one = allowed[a];
                              const TokenChance& other = allowed[b];
                              return one.log_probability != other.log_probability
                                         ? one.log_probability > other.log_probability
                                         : one.token < other.token;
                          });
        order.resize(few);
    }
    if (options.top_p < 1.0) {
        keep_share(order, allowed, options);
    }
    if (options.min_p > 0.0) {
        keep_near_best(order, allowed, options);
    }
    std::size_t best = order.front();
    double highest = -std::numeric_limits<double>::infinity();
    for (const std::size_t i : order) {
        const TokenChance& chance = allowed[i];
        const double value = chance.log_probability / options.temperature + noise(chance.token, options, key);
        if (value > highest || (value == highest && chance.token < allowed[best].token)) {
            highest = value;
            best = i;
        }
    }
    return best;
}

}  // namespace headscope

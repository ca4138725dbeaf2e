#include "parallel/network.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {
namespace {

constexpr double kGiga = 1e9;
constexpr double kMicro = 1e-6;

}  // namespace

double exchange_seconds(const Network& network, int ranks, double bytes) {
    const double others = ranks - 1;
    return 2.0 * others * network.latency + 2.0 * others / ranks * bytes / network.bytes_per_second;
}

Network fit_network(std::span<const MeasuredExchange> measured, int ranks) {
    HEADSCOPE_CHECK(ranks > 1 && measured.size() > 1, "a network is between ranks, and measured by several sizes");
    const double others = ranks - 1;
    const MeasuredExchange& small = measured.front();
    const MeasuredExchange& large = measured.back();
    const double per_byte =
        std::max((large.seconds - small.seconds) / (2.0 * others / ranks * (large.bytes - small.bytes)), 1e-15);
    const double latency = small.seconds / (2.0 * others) - per_byte * small.bytes / ranks;
    return {.bytes_per_second = 1.0 / per_byte, .latency = std::max(latency, 0.0)};
}

Network parse_network(const std::string& text) {
    char* end = nullptr;
    const double gigabytes = std::strtod(text.c_str(), &end);
    double microseconds = -1.0;
    if (end != text.c_str() && *end == ',') {
        const char* second = end + 1;
        microseconds = std::strtod(second, &end);
        if (end == second || *end != '\0') {
            microseconds = -1.0;
        }
    }
    if (!std::isfinite(gigabytes) || gigabytes <= 0.0 || !std::isfinite(microseconds) || microseconds < 0.0) {
        throw Error(
            fmt::format("'{}' is no network: expected gigabytes a second and microseconds, such as 12.5,20", text));
    }
    return {.bytes_per_second = gigabytes * kGiga, .latency = microseconds * kMicro};
}

std::string text_of(const Network& network) {
    return fmt::format("{:.3g},{:.3g}", network.bytes_per_second / kGiga, network.latency / kMicro);
}

}  // namespace headscope

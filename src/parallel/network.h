// How long ranks take to exchange gradients and weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headscope {

// Between any two ranks.
struct Network {
    double bytes_per_second = 0.0;
    double latency = 0.0;  // seconds
};

// Of a step whose gradients take `bytes`: each rank sends and receives (ranks - 1) / ranks of them, and as much of the
// weights. Both in ranks - 1 messages.
double exchange_seconds(const Network& network, int ranks, double bytes);

struct MeasuredExchange {
    double bytes = 0.0, seconds = 0.0;
};
// The network by which exchange_seconds() is right for the smallest and the largest size, the first and the last of at
// least two.
Network fit_network(std::span<const MeasuredExchange> measured, int ranks);

// "12.5,20": gigabytes a second and microseconds. Error for anything else.
Network parse_network(const std::string& text);
std::string text_of(const Network& network);

}  // namespace headscope

#include <catch2/catch.hpp>

#include <vector>

#include "parallel/network.h"
#include "support/check.h"

using namespace headscope;

TEST_CASE("an exchange takes latency for each message and bandwidth for each byte", "[network]") {
    const Network network{.bytes_per_second = 10e9, .latency = 20e-6};
    // 252 MB on eight ranks: 14 messages, and seven eighths of the bytes twice.
    CHECK(exchange_seconds(network, 8, 252e6) == Approx(14 * 20e-6 + 1.75 * 252e6 / 10e9));
    CHECK(exchange_seconds(network, 1, 252e6) == 0.0);
}

TEST_CASE("the network is found from what it does", "[network]") {
    const Network network{.bytes_per_second = 1.25e9, .latency = 50e-6};
    for (const int ranks : {2, 5}) {
        std::vector<MeasuredExchange> rows;
        for (const double bytes : {4096.0, 65536.0, 1e6, 64e6}) {
            rows.push_back({bytes, exchange_seconds(network, ranks, bytes)});
        }
        rows[1].seconds *= 3.0;  // what lies between does not count
        const Network found = fit_network(rows, ranks);
        CHECK(found.bytes_per_second == Approx(network.bytes_per_second));
        CHECK(found.latency == Approx(network.latency));
    }
}

TEST_CASE("a network is written as gigabytes a second and microseconds", "[network]") {
    const Network network = parse_network("12.5,20");
    CHECK(network.bytes_per_second == 12.5e9);
    CHECK(network.latency == Approx(20e-6));
    CHECK(text_of(network) == "12.5,20");
    CHECK(parse_network("0.1,0").latency == 0.0);
    for (const char* wrong : {"", "12", "12,", ",20", "0,20", "-1,20", "12,-1", "12,20,3", "a,b", "nan,1", "inf,1"}) {
        CAPTURE(wrong);
        CHECK_THROWS_WITH(parse_network(wrong), Catch::Contains("expected gigabytes a second and microseconds"));
    }
}

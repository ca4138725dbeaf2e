// Table 1: exponents of known powers, and what is counted of self-attention.
#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "experiment/table1.h"
#include "registry/registry.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;

namespace {

const LayerKind& kind_of(const char* name) {
    return *chosen_layer_kinds({name}).front();
}

std::unique_ptr<Backend> cpu() {
    return open_device("cpu");
}

}  // namespace

TEST_CASE("exponents are those of the power, whatever the factors of the groups", "[table1]") {
    std::vector<PowerPoint> points;
    for (const std::int64_t group : {1, 2, 3}) {
        for (const double x : {2.0, 4.0, 8.0, 16.0}) {
            points.push_back({x, static_cast<double>(group * group) * std::pow(x, 1.5), group});
        }
    }
    const Exponent exact = fit_exponent(points);
    CHECK(exact.value == Approx(1.5));
    CHECK(exact.error == Approx(0.0).margin(1e-6));
    // y = x on average, 10 % above and below: by hand, with 2 degrees of freedom t is 4.303, and the expansion 4.17.
    const Exponent noisy = fit_exponent({{1.0, 1.1}, {2.0, 2.0 / 1.1}, {4.0, 4.0 / 1.1}, {8.0, 8.0 * 1.1}});
    CHECK(noisy.value == Approx(1.0));
    const double residual = 4.0 * std::pow(std::log(1.1), 2.0) / 2.0;
    const double spread = std::pow(std::log(2.0), 2.0) * 5.0;
    CHECK(noisy.error == Approx(4.17 * std::sqrt(residual / spread)).epsilon(0.01));
    CHECK(std::isinf(fit_exponent({{1.0, 1.0}, {2.0, 4.0}}).error));
}

TEST_CASE("self-attention connects all positions by as many ops at any length", "[table1]") {
    const LayerPath shorter = measure_path(cpu, kind_of("self-attention"), 4, 8);
    const LayerPath longer = measure_path(cpu, kind_of("self-attention"), 32, 8);
    CHECK(shorter.layers == 1);
    CHECK(longer.layers == 1);
    CHECK(longer.sequential == shorter.sequential);
    CHECK(longer.path == longer.sequential);
}

TEST_CASE("a layer's multiply-adds are those of its products", "[table1]") {
    const std::unique_ptr<Backend> backend = cpu();
    const LayerCost cost = LayerProbe(*backend, kind_of("self-attention"), 6, 8).measure(1);
    CHECK(cost.multiply_adds == 6.0 * 4.0 * 8.0 * 8.0 + 6.0 * 6.0 * 2.0 * 8.0);
    CHECK(cost.forward_seconds > 0.0);
    CHECK(cost.backward_seconds > 0.0);
    CHECK(cost.bytes >= 6 * 8 * 4 * sizeof(float));  // queries, keys, values and the result
}

TEST_CASE("the table has ours beside the paper's, and where self-attention overtakes the LSTM", "[table1]") {
    const TemporaryFolder folder;
    Table1 table("cpu (test)");
    const auto add = [&](const char* kind, double (*seconds)(double, double)) {
        Table1Line line{.kind = &kind_of(kind), .paths = {{8, 1, 4, 4}, {16, 1, 4, 4}}};
        for (const std::int64_t n : {256, 512, 1024}) {
            for (const std::int64_t d : {128, 512}) {
                const auto x = static_cast<double>(n);
                const auto y = static_cast<double>(d);
                line.costs.push_back({n, d, seconds(x, y), 2.0 * seconds(x, y), x * x * y, 1});
            }
        }
        table.add(std::move(line));
    };
    add("self-attention", [](double n, double d) { return 1e-9 * n * n * d; });
    CHECK(table.crossings().rows.empty());
    table.write(folder.file("table1"));
    CHECK(table.table().rows.at(0).at(4) == "2.00 ± 0.00");
    CHECK(table.table().rows.at(0).at(5) == "1.00 ± 0.00");
    CHECK(table.json()["layers"][0]["growth"]["forward"]["n"]["exponent"].get<double>() == Approx(2.0));
}

// Table 1: exponents of known powers, and what is counted of self-attention.
#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "experiment/head_costs.h"
#include "experiment/table1.h"
#include "registry/registry.h"

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
    // y = x on average, 10 % above and below: by hand; with 2 degrees of freedom t is 4.303.
    const Exponent noisy = fit_exponent({{1.0, 1.1}, {2.0, 2.0 / 1.1}, {4.0, 4.0 / 1.1}, {8.0, 8.0 * 1.1}});
    CHECK(noisy.value == Approx(1.0));
    const double residual = 4.0 * std::pow(std::log(1.1), 2.0) / 2.0;
    const double spread = std::pow(std::log(2.0), 2.0) * 5.0;
    CHECK(noisy.error == Approx(4.3027 * std::sqrt(residual / spread)).epsilon(1e-4));
    CHECK(std::isnan(fit_exponent({{2.0, 1.0, 1}, {2.0, 4.0, 2}}).value));
    CHECK(std::isinf(fit_exponent({{1.0, 1.0}, {2.0, 4.0}}).error));
}

TEST_CASE("paths and sequential ops are those of each kind of layer", "[table1]") {
    struct Known {
        const char* kind;
        std::int64_t length;
        int layers;
        std::int64_t sequential, path;
    };
    // Self-attention is two projections, scores and sums; an LSTM a product and gates for each position. A kernel of 3
    // reaches one position farther with each layer, dilated ones 1, 2, 4, 8.
    for (const Known& known :
         {Known{"self-attention", 4, 1, 4, 4}, Known{"self-attention", 32, 1, 4, 4}, Known{"lstm", 8, 1, 18, 18},
          Known{"lstm", 16, 1, 34, 34}, Known{"convolution", 16, 15, 3, 45}, Known{"dilated", 16, 4, 3, 12},
          Known{"restricted", 64, 5, 4, 16}, Known{"separable-n", 16, 2, 4, 7}}) {
        INFO(known.kind << " over " << known.length);
        const LayerPath path = measure_path(cpu, kind_of(known.kind), known.length, 16);
        CHECK(path.layers == known.layers);
        CHECK(path.sequential == known.sequential);
        CHECK(path.path == known.path);
    }
}

TEST_CASE("a layer's multiply-adds are those of its products", "[table1]") {
    const std::unique_ptr<Backend> backend = cpu();
    const LayerCost cost = LayerProbe(*backend, kind_of("self-attention"), 6, 8).measure(1);
    CHECK(cost.multiply_adds == 6.0 * 4.0 * 8.0 * 8.0 + 6.0 * 6.0 * 2.0 * 8.0);
    CHECK(cost.pass.forward_seconds > 0.0);
    CHECK(cost.pass.backward_seconds > 0.0);
    CHECK(cost.pass.bytes >= 6 * 8 * 4 * sizeof(float));  // queries, keys, values and the result
}

// The paper calls convolutions "more expensive than recurrent layers, by a factor of k", but each of an LSTM's four
// gates has two matrices, and of a GRU's three.
TEST_CASE("a convolution of kernel 3 has fewer multiply-adds than an LSTM", "[table1]") {
    const std::unique_ptr<Backend> backend = cpu();
    constexpr double kLength = 33.0;
    constexpr double kWidth = 16.0;
    const auto per_square = [&](const char* kind) {
        return LayerProbe(*backend, kind_of(kind), 33, 16).measure(1).multiply_adds / (kLength * kWidth * kWidth);
    };
    CHECK(per_square("convolution") == 3.0);
    CHECK(per_square("lstm") == 8.0);
    CHECK(per_square("gru") == 6.0);
    CHECK(per_square("separable") == 1.0 + 3.0 / kWidth);
    // With k = n as many as pairs of one product and one matrix have; attention has two products and four matrices.
    CHECK(per_square("separable-n") == 1.0 + kLength / kWidth);
    CHECK(per_square("self-attention") == 4.0 + 2.0 * kLength / kWidth);
}

TEST_CASE("a kernel as long as the text is odd where it sees both sides", "[table1]") {
    CHECK(encoder_keys(kind_of("separable-n"), 16).at("mixer.convolution.kernel") == 17);
    CHECK(encoder_keys(kind_of("separable-n"), 33).at("mixer.convolution.kernel") == 33);
    CHECK(decoder_keys(kind_of("separable-n"), 16).at("mixer.convolution.kernel") == 16);
    CHECK_FALSE(encoder_keys(kind_of("separable"), 16).contains("mixer.convolution.kernel"));
}

TEST_CASE("the gradient at the first position vanishes with the length in recurrent layers", "[table1]") {
    const auto influence = [](const char* kind, std::int64_t length) {
        return measure_path(cpu, kind_of(kind), length, 16).influence;
    };
    for (const char* kind : {"lstm", "gru"}) {
        CAPTURE(kind);
        CHECK(influence(kind, 32) < 0.1 * influence(kind, 16));
    }
    for (const std::int64_t length : {16, 32}) {
        CAPTURE(length);
        CHECK(influence("self-attention", length) > 0.05);
    }
    // One that is not connected has none at all.
    CHECK(LayerProbe(*cpu(), kind_of("convolution"), 8, 16, 6).influence_of_first() == 0.0);
    CHECK(LayerProbe(*cpu(), kind_of("convolution"), 8, 16, 7).influence_of_first() > 0.0);
}

TEST_CASE("heads of one width have the same multiply-adds, and only its divisors are timed", "[table1]") {
    const std::unique_ptr<Backend> backend = cpu();
    const std::vector<HeadCost> costs = measure_heads(*backend, {1, 3, 4, 8}, 6, 16, 1);
    REQUIRE(costs.size() == 3);
    for (const HeadCost& one : costs) {
        CHECK(one.cost.multiply_adds == 6.0 * 4.0 * 16.0 * 16.0 + 6.0 * 6.0 * 2.0 * 16.0);
    }
    StudyReport report;
    add_head_costs(costs, report);
    CHECK(report.json.at("heads")[1].at("d_k") == 4);
    CHECK(report.tables.front().rows.at(2).front() == "8");
    CHECK(report.pictures.size() == 1);
}

TEST_CASE("the table has ours beside the paper's, and where self-attention overtakes the LSTM", "[table1]") {
    std::vector<Table1Line> lines;
    const auto report = [&] { return report_of(lines, "cpu (test)"); };
    const auto add = [&](const char* kind, double (*seconds)(double, double)) {
        Table1Line line{.kind = &kind_of(kind), .paths = {{8, 1, 4, 4, 1e-2}, {16, 1, 4, 4, 1e-3}}};
        for (const std::int64_t n : {256, 512, 1024}) {
            for (const std::int64_t d : {128, 512}) {
                const auto x = static_cast<double>(n);
                const auto y = static_cast<double>(d);
                line.costs.push_back({n, d, {seconds(x, y), 2.0 * seconds(x, y), 1}, x * x * y});
            }
        }
        lines.push_back(std::move(line));
    };
    add("self-attention", [](double n, double d) { return 1e-9 * n * n * d; });
    CHECK(report().tables[1].rows.empty());
    add("lstm", [](double n, double d) { return 2e-9 * n * d * d; });  // as long where n is 2 d
    CHECK(report().tables[1].rows ==
          std::vector<std::vector<std::string>>{{"128", "256", "1024"}, {"512", "1024", "1024"}});
    CHECK(report().tables[0].rows.at(0).at(4) == "2.00 ± 0.00");
    CHECK(report().tables[0].rows.at(0).at(5) == "1.00 ± 0.00");
    CHECK(report().tables[0].rows.at(0).at(8) == "1.00");  // n^2 d, of n d^2 at n = d
    CHECK(report().tables[0].rows.at(1).at(14) == "1.0e-03");
    CHECK(report().json["layers"][0]["growth"]["forward"]["n"]["exponent"].get<double>() == Approx(2.0));
}

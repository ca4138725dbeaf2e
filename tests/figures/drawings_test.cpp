// Neurons, sinusoids, curves and importance.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "figures/curve.h"
#include "figures/importance_drawing.h"
#include "figures/neuron_drawing.h"
#include "figures/sinusoid_drawing.h"
#include "layout_checks.h"
#include "model/sinusoids.h"
#include "samples.h"
#include "support/check.h"

using namespace headscope;
using headscope::test::all_of;

namespace {

const std::vector<std::string> kQueries{"Das", "Gesetz", "wird", "<EOS>"};
const std::vector<std::string> kKeys{"The", "Law", "will", "never", "be", "perfect", "<EOS>"};
// The model's weights for the view's sums, rounded to float.
std::vector<float> weights_of(const NeuronView& view, int query) {
    const std::vector<double> row = softmax_row(view, query);
    return {row.begin(), row.end()};
}

std::vector<std::string> numbers_of(const Drawing& drawing, int key) {
    std::vector<std::string> found;
    for (const auto& [primitive, text] : all_of<Text>(drawing, Role::Value)) {
        if (primitive.mark.key == key) {
            found.push_back(text.content);
        }
    }
    return found;
}

bool has_heading(const Drawing& drawing, const std::string& name) {
    const auto headings = all_of<Text>(drawing, Role::Axis);
    return std::any_of(headings.begin(), headings.end(), [&](const auto& one) { return one.second.content == name; });
}

}  // namespace

TEST_CASE("The neuron view's sums are the sums of its cells", "[neurons]") {
    const NeuronView view = test::neuron_sample(4, 7, 64);
    double sum = 0.0;
    for (std::size_t d = 0; d < 64; ++d) {
        sum += static_cast<double>(view.q[2 * 64 + d]) * static_cast<double>(view.k[5 * 64 + d]);
    }
    CHECK(dot_product(view, 2, 5) == Approx(sum));
    const Drawing drawing = draw_neurons(view, kQueries, kKeys, weights_of(view, 2), 2, {});
    const auto cells = all_of<Rect>(drawing, Role::Cell);
    CHECK(cells.size() == 64 + 7 * 2 * 64);
    // q, then for each key its k and their products; the tips have the numbers.
    const std::size_t k_cell = 64 + 5 * 128 + 9;
    CHECK(cells[9].first.mark.tip == fmt::format("q, dimension 10: {:.4f}", view.q[2 * 64 + 9]));
    CHECK(cells[k_cell].first.mark.tip == fmt::format("k, dimension 10: {:.4f}", view.k[5 * 64 + 9]));
    CHECK(cells[k_cell + 64].first.mark.tip ==
          fmt::format("q \u00d7 k, dimension 10: {:.4f}",
                      static_cast<double>(view.q[2 * 64 + 9]) * static_cast<double>(view.k[5 * 64 + 9])));
    CHECK(cells[k_cell].first.mark.key == 5);
    CHECK(cells[k_cell].first.mark.item == 9);
    CHECK(cells[k_cell].second.y > cells[9].second.y);
    CHECK(cells[k_cell].second.x == Approx(cells[9].second.x));
    const auto bars = all_of<Rect>(drawing, Role::Bar);
    REQUIRE(bars.size() == 7);
    CHECK(bars[1].first.mark.key == 1);
    // By hand: the softmax over the first five keys, the last two are pads.
    double total = 0.0;
    for (int key = 0; key < 5; ++key) {
        total += std::exp(dot_product(view, 2, key) / 8.0);
    }
    for (int key = 0; key < 7; ++key) {
        const double dot = dot_product(view, 2, key);
        const double weight = key < 5 ? std::exp(dot / 8.0) / total : 0.0;
        CHECK(numbers_of(drawing, key) ==
              std::vector<std::string>{fmt::format("{:.2f}", dot),
                                       key < 5 ? fmt::format("{:.2f}", dot / 8.0) : "masked",
                                       fmt::format("{:.2f}", weight)});
        CHECK(bars[static_cast<std::size_t>(key)].second.width == Approx(100.0 * weight).margin(1e-9));
    }
    CHECK(has_heading(drawing, "softmax"));
    CHECK_FALSE(has_heading(drawing, "edited"));
}

TEST_CASE("Keys are hidden by the mask, not by their weight", "[neurons]") {
    NeuronView view = test::neuron_sample(4, 4, 16);
    view.pads = 0;
    view.causal = true;
    CHECK(is_visible(view, 1, 1));
    CHECK_FALSE(is_visible(view, 1, 2));
    const std::vector<double> row = softmax_row(view, 1);
    CHECK(row[0] + row[1] == Approx(1.0));
    CHECK(row[0] / row[1] == Approx(std::exp((dot_product(view, 1, 0) - dot_product(view, 1, 1)) / 4.0)));
    CHECK(row[2] == 0.0);
    CHECK(softmax_row(view, 0) == std::vector<double>{1, 0, 0, 0});

    // With a number for each distance up to 1.
    NeuronView relative = view;
    relative.by_distance = {0.5F, -1.0F, 9.0F};
    CHECK(score(relative, 3, 0) == Approx(dot_product(view, 3, 0) / 4.0 + 0.5));
    CHECK(score(relative, 3, 3) == Approx(dot_product(view, 3, 3) / 4.0 - 1.0));
    CHECK(softmax_row(relative, 1)[0] / softmax_row(relative, 1)[1] == Approx(row[0] / row[1] * std::exp(0.5 - -1.0)));

    // A head that is off: its sums and softmax, and beside them the weights that the model used.
    view.edited = true;
    const std::vector<std::string> words{"<BOS>", "Das", "Gesetz", "wird"};
    const Drawing off = draw_neurons(view, words, words, {0, 0, 0, 0}, 1, {.chosen = 0});
    REQUIRE(numbers_of(off, 0).size() == 4);
    CHECK(numbers_of(off, 0)[1] == fmt::format("{:.2f}", dot_product(view, 1, 0) / 4.0));
    CHECK(numbers_of(off, 0)[2] == fmt::format("{:.2f}", row[0]));
    CHECK(numbers_of(off, 0)[3] == "0.00");
    CHECK(numbers_of(off, 2)[1] == "masked");
    CHECK(has_heading(off, "edited"));
    CHECK_THAT(all_of<Text>(off, Role::Note).at(0).second.content,
               Catch::Matchers::EndsWith("Used instead, edited: 0.000."));
    test::check_looks([&](const Look& look) {
        return draw_neurons(view, words, words, {1, 0, 0, 0}, 1, {.chosen = 3, .look = look});
    });

    // For an edited head any difference counts, else only a visible digit.
    std::vector<float> near = weights_of(view, 1);
    CHECK_FALSE(has_heading(draw_neurons(view, words, words, near, 1, {}), "edited"));
    near[0] += 2e-4F;
    CHECK(has_heading(draw_neurons(view, words, words, near, 1, {}), "edited"));
    view.edited = false;
    CHECK_FALSE(has_heading(draw_neurons(view, words, words, near, 1, {}), "the model's"));
    near[0] += 0.01F;
    CHECK(has_heading(draw_neurons(view, words, words, near, 1, {}), "the model's"));
}

TEST_CASE("The neuron view's layout is valid in every style, with a chosen key, for few and many dimensions",
          "[neurons]") {
    for (const std::int64_t d_k : {1, 16, 64, 128}) {
        const NeuronView view = test::neuron_sample(4, 7, d_k);
        for (const int chosen : {-1, 4}) {
            test::check_looks([&](const Look& look) {
                return draw_neurons(view, kQueries, kKeys, weights_of(view, 1), 1, {.chosen = chosen, .look = look});
            });
        }
    }
    const NeuronView view = test::neuron_sample(4, 7, 16);
    const Drawing drawing = draw_neurons(view, kQueries, kKeys, weights_of(view, 1), 1, {.chosen = 4});
    CHECK(all_of<Rect>(drawing, Role::Bar).size() == 7 + 3 * 16);
}

TEST_CASE("Sinusoids show the table's numbers, positions from top to bottom", "[sinusoids]") {
    ModelConfig config;
    config.d_model = 6;
    const Drawing drawing = draw_sinusoids(config, {.positions = 5});
    const auto cells = all_of<Rect>(drawing, Role::Cell);
    REQUIRE(cells.size() == 30);
    const std::vector<double> table = sinusoid_table(5, 6, config.positions.layout);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        CHECK(cells[i].first.colour == diverging_colour(table[i], kLightInk));
        CHECK(cells[i].first.mark.query == static_cast<int>(i / 6));
        CHECK(cells[i].first.mark.item == static_cast<int>(i % 6));
    }
    CHECK(cells[6].second.y > cells[0].second.y);
    CHECK(cells[6].second.x == cells[0].second.x);
    config.d_model = 512;
    for (const SinusoidLayout layout :
         {SinusoidLayout::Interleaved, SinusoidLayout::HalvesMinusOne, SinusoidLayout::Halves}) {
        config.positions.layout = layout;
        test::check_looks([&](const Look& look) { return draw_sinusoids(config, {.look = look}); });
        test::check_layout(draw_sinusoids(config, {.positions = 1, .columns = 3}));
    }
    config.positions.layout = SinusoidLayout::Interleaved;
    std::set<int> parities;
    for (const auto& [primitive, cell] : all_of<Rect>(draw_sinusoids(config, {.columns = 64}), Role::Cell)) {
        parities.insert(primitive.mark.item % 2);
    }
    CHECK(parities.size() == 2);  // sines and cosines
    const auto title = [&](const SinusoidOptions& options) {
        return all_of<Text>(draw_sinusoids(config, options), Role::Title).front().second.content;
    };
    CHECK(title({.columns = 64}) == "Positional encoding, 64 of 512 dimensions");
    CHECK(title({.columns = 512}) == "Positional encoding, 512 dimensions");
    config.positions.kind = Positions::Learned;
    CHECK_THROWS_WITH(draw_sinusoids(config, {}), Catch::Matchers::Contains("has no sinusoids"));
}

TEST_CASE("Ticks are round numbers within their range", "[curve]") {
    CHECK(nice_ticks(0.0, 10.0, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
    CHECK(nice_ticks(-0.1, 0.1, 2) == std::vector<double>{-0.1, 0.0, 0.1});
    CHECK(nice_ticks(3.2, 9.1, 5) == std::vector<double>{4, 6, 8});
    CHECK(nice_ticks(1.0, 1.0, 5).empty());
    CHECK(nice_ticks(0.0, 1.0, 0).empty());
    for (const double high : {1e-6, 0.013, 7.0, 123456.0, 1e12}) {
        const auto ticks = nice_ticks(-high / 3.0, high, 6);
        CHECK(ticks.size() >= 3);
        CHECK(ticks.size() <= 8);
        CHECK(ticks.front() >= -high / 3.0 - 1e-9 * high);
        CHECK(ticks.back() <= high * (1.0 + 1e-9));
    }
}

TEST_CASE("A curve goes through its points, and checkpoints lie on it", "[curve]") {
    const Series loss{"training", {{0, 4}, {100, 2}, {200, 1}}, false};
    const Series saved{"checkpoints", {{100, 2}}, true};
    const Drawing drawing = draw_curves({loss, saved}, {.chosen = 0});
    const auto lines = all_of<Line>(drawing, Role::Curve);
    REQUIRE(lines.size() == 2);
    const auto points = all_of<Polygon>(drawing, Role::Point);
    REQUIRE(points.size() == 1);
    const Rect box = test::bounds_of(points[0].first);
    const Point centre{box.x + box.width / 2.0, box.y + box.height / 2.0};
    CHECK(distance_to(lines[0].second, centre) == Approx(0.0).margin(1e-6));
    CHECK(distance_to(lines[1].second, centre) == Approx(0.0).margin(1e-6));
    CHECK(lines[0].second.y1 < lines[0].second.y2);  // a falling loss goes downwards
    CHECK(lines[0].second.x1 < lines[0].second.x2);
    CHECK(all_of<Rect>(drawing, Role::Point).size() == 1);  // the ring
    CHECK(points[0].first.mark.item == 0);
}

TEST_CASE("The layout of curves is valid in every style: gaps, one point, none, logarithmic, very many", "[curve]") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Series gaps{"training", {{0, 4}, {1, 2}, {2, nan}, {3, 1}, {4, 0.5}}, false};
    const auto pieces = [](const Drawing& drawing) { return all_of<Line>(drawing, Role::Curve).size(); };
    CHECK(pieces(draw_curves({gaps}, {})) == 2);
    gaps.points[4].y = 0.0;
    CHECK(pieces(draw_curves({gaps}, {.logarithmic = true})) == 1);
    Series many{"training", {}, false};
    for (int i = 0; i < 200000; ++i) {
        many.points.push_back({static_cast<double>(i), i == 77777 ? 9.0 : 3.0 + std::sin(i * 0.1)});
    }
    const Drawing thinned = draw_curves({many}, {});
    CHECK(pieces(thinned) < 2000);
    double highest = 1e9;
    for (const auto& [primitive, line] : all_of<Line>(thinned, Role::Curve)) {
        highest = std::min({highest, line.y1, line.y2});
    }
    CHECK(highest < 60.0);  // the single peak is kept
    for (const std::vector<Series>& series : {std::vector<Series>{},
                                              {gaps},
                                              {many, gaps},
                                              {{"training", {{5, 3}}, false}, {"checkpoints", {{5, 3}}, true}}}) {
        for (const bool logarithmic : {false, true}) {
            test::check_looks([&](const Look& look) {
                return draw_curves(series, {.y_label = "nats", .logarithmic = logarithmic, .look = look});
            });
        }
    }
}

TEST_CASE("Importance is a layers x heads grid, or sorted bars", "[importance]") {
    const Importance importance = test::importance_sample();
    for (const bool bars : {false, true}) {
        test::check_looks([&](const Look& look) { return draw_importance(importance, {.bars = bars, .look = look}); });
    }
    test::check_looks(
        [&](const Look& look) { return draw_importance(importance, {.bars = true, .most_bars = 1000, .look = look}); });
    test::check_layout(draw_importance({}, {}));
    test::check_layout(draw_importance({}, {.bars = true}));

    const auto cells = all_of<Rect>(draw_importance(importance, {}), Role::Cell);
    REQUIRE(cells.size() == importance.heads.size());
    CHECK(cells[8].second.y > cells[0].second.y);  // layer 2 below layer 1
    CHECK(cells[8].second.x == cells[0].second.x);
    CHECK(cells[1].second.x > cells[0].second.x);
    CHECK(cells[9].first.mark.layer == 2);
    CHECK(cells[9].first.mark.head == 2);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Colour colour = cells[i].first.colour;
        if (std::abs(importance.heads[i].loss) > 0.3) {
            CHECK((colour.red > colour.blue) == (importance.heads[i].loss > 0.0));
        }
    }
    const auto all = all_of<Rect>(draw_importance(importance, {.bars = true, .most_bars = 1000}), Role::Bar);
    REQUIRE(all.size() == importance.heads.size());
    double before = 1e9;
    for (const auto& [primitive, bar] : all) {
        const double loss = importance.heads[static_cast<std::size_t>(primitive.mark.item)].loss;
        CHECK(loss <= before);
        before = loss;
    }
    CHECK(all.front().second.x > all.back().second.x);  // harmful heads extend left of zero
    CHECK(all_of<Rect>(draw_importance(importance, {.bars = true, .most_bars = 5}), Role::Bar).size() == 5);
}

TEST_CASE("A number that rounds to 0 has no sign", "[importance]") {
    Importance importance;
    importance.finished = true;
    importance.heads = {{{AttentionKind::Cross, 0}, 1, -1.0, -0.00004},
                        {{AttentionKind::Cross, 0}, 2, -1.0, 0.00004},
                        {{AttentionKind::Cross, 0}, 3, -1.0, -0.006},
                        {{AttentionKind::Cross, 0}, 4, -1.0, 0.5}};
    const auto values = [&](bool bars) {
        std::vector<std::string> found;
        for (const auto& [primitive, text] : all_of<Text>(draw_importance(importance, {.bars = bars}), Role::Value)) {
            found.push_back(text.content);
        }
        return found;
    };
    CHECK(values(false) == std::vector<std::string>{"0.00", "0.00", "-0.01", "+0.50"});
    CHECK(values(true) == std::vector<std::string>{"+0.500", "0.000", "0.000", "-0.006"});
}

TEST_CASE("The importance of a language model's heads names one kind of attention", "[importance]") {
    Importance importance;
    importance.family = Architecture::CausalLm;
    importance.finished = true;
    importance.heads = {{{AttentionKind::DecoderSelf, 0}, 1, -1.0, 0.25},
                        {{AttentionKind::DecoderSelf, 1}, 1, -1.0, 0.5}};
    for (const bool bars : {false, true}) {
        const Drawing drawing = draw_importance(importance, {.bars = bars, .look = {.tips = true}});
        std::string all;
        for (const Primitive& primitive : drawing.primitives) {
            const auto* text = std::get_if<Text>(&primitive.shape);
            all += (text == nullptr ? "" : text->content) + "\n" + primitive.mark.tip + "\n";
        }
        using Catch::Matchers::Contains;
        CHECK_THAT(all, Contains("What each head is worth to this continuation") &&
                            Contains("layer 2, head 1: +0.5000") && !Contains("decoder") &&
                            Contains(bars ? "\nL2 H1\n" : "\nself-attention\n"));
    }
}

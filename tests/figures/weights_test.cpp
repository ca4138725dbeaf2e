// The weights of a block: one row per parameter, with a histogram.
#include <cmath>

#include <catch2/catch.hpp>

#include "figures/weights_drawing.h"
#include "layout_checks.h"

using namespace headscope;

namespace {

std::vector<WeightStatistics> two_parameters() {
    std::vector<float> wave;
    for (int i = 0; i < 512; ++i) {
        wave.push_back(static_cast<float>(std::sin(0.1 * i)));
    }
    return {statistics_of("encoder.layers.0.self_attention.q.weight", {16, 32}, wave),
            statistics_of("encoder.layers.0.self_attention.norm.gain", {4}, {1.0F, 1.0F, std::nanf(""), 1.0F})};
}

}  // namespace

TEST_CASE("The layout of weights is valid in every style, and names appear once", "[weights]") {
    const std::string prefix = "encoder.layers.0.self_attention.";
    for (const Ink& ink : {kLightInk, kDarkInk}) {
        test::check_layout(draw_weights(prefix, two_parameters(), {.ink = ink}));
    }
    const Drawing drawing = draw_weights(prefix, two_parameters(), {});
    CHECK(drawing.title == "Weights of encoder.layers.0.self_attention");
    std::vector<std::string> texts;
    for (const Primitive& primitive : drawing.primitives) {
        if (const auto* text = std::get_if<Text>(&primitive.shape)) {
            texts.push_back(text->content);
        }
    }
    for (const char* expected : {"q.weight", "norm.gain", "16 \u00D7 32", "1 are not finite"}) {
        CHECK(std::count(texts.begin(), texts.end(), expected) == 1);
    }
    test::check_layout(draw_weights("nothing.", {}, {}));
}

TEST_CASE("The tallest bar is the largest bin", "[weights]") {
    const auto parameters = two_parameters();
    const Drawing drawing = draw_weights("", parameters, {});
    double highest = 0.0;
    int bars = 0;
    for (const Primitive& primitive : drawing.primitives) {
        if (primitive.mark.role == Role::Bar && primitive.mark.item == 0) {
            highest = std::max(highest, std::get<Rect>(primitive.shape).height);
            ++bars;
        }
    }
    const auto& counts = parameters[0].counts;
    CHECK(bars == std::count_if(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; }));
    // A sine is most often near its extremes, so the tallest bar is there.
    CHECK(*std::max_element(counts.begin(), counts.end()) == std::max(counts.front(), counts.back()));
    for (const Primitive& primitive : drawing.primitives) {
        if (primitive.mark.role == Role::Bar && primitive.mark.item == 1) {
            CHECK(std::get<Rect>(primitive.shape).height == Approx(highest));  // three equal weights: one full bar
        }
    }
}

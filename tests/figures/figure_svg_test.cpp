// SVG: escaped, reproducible, self-contained.
#include <sstream>

#include <catch2/catch.hpp>

#include "figure_samples.h"
#include "paint/svg.h"

using namespace headscope;

TEST_CASE("A figure with markup in its words is well-formed", "[svg]") {
    AttentionRecord record = test::paper_record("</svg> & <script> \"x\" „“", 0);
    AttentionSelection options;
    options.layer = 5;
    const std::string svg = to_svg(test::draw_figure(record, options));
    CHECK(svg.find("<script") == std::string::npos);
    CHECK(svg.find("</svg>") == svg.size() - 7);
    CHECK(svg.find("&lt;/svg&gt;") != std::string::npos);
    CHECK(svg.find("„") != std::string::npos);
}

TEST_CASE("The same figure gives the same bytes, and describes itself", "[svg]") {
    AttentionSelection options;
    options.layer = 5;
    options.heads = {5};
    options.words = {"making"};
    const Drawing drawing = test::draw_figure(test::paper_record(), options);
    const std::string svg = to_svg(drawing);
    CHECK(svg == to_svg(test::draw_figure(test::paper_record(), options)));
    CHECK(svg.find("<title id=\"title\">Input-Input Layer5</title>") != std::string::npos);
    CHECK(svg.find("head 5 of 8") != std::string::npos);
    CHECK(svg.find("Head 5 looks from &quot;making&quot; mostly at &quot;") != std::string::npos);
    CHECK(svg.find("http") == svg.find("http://www.w3.org/2000/svg"));
    CHECK(svg.find("http", svg.find("http") + 1) == std::string::npos);
    CHECK(svg.find("stroke-opacity=\"") != std::string::npos);
    CHECK(svg.find("rotate(-90 ") != std::string::npos);
}

TEST_CASE("Labels let the pointer through to the shape below", "[svg]") {
    AttentionSelection options;
    options.layer = 5;
    options.words = {"making"};
    const std::string svg = to_svg(test::draw_figure(test::paper_record(), options));
    std::size_t swatches = 0, keys = 0;
    std::istringstream lines(svg);
    std::string group;
    for (std::string line; std::getline(lines, line);) {
        group = line.starts_with("<g class=") ? line : group;
        if (!line.starts_with("<text ")) {
            continue;
        }
        const bool through = line.find(" pointer-events=\"none\"") != std::string::npos;
        const bool on_rectangle = group == "<g class=\"swatches\">" || group == "<g class=\"keys\">";
        CHECK(through == on_rectangle);
        swatches += on_rectangle && group == "<g class=\"swatches\">" ? 1 : 0;
        keys += group == "<g class=\"keys\">" ? 1 : 0;
    }
    CHECK(swatches == 8);
    CHECK(keys > 8);
}

TEST_CASE("Numbers are short, and there is no negative zero", "[svg]") {
    Drawing drawing;
    drawing.width = 10.0;
    drawing.height = 2.5;
    drawing.primitives.push_back({{Role::Slab, 1, -1, 0}, kBlack, 0.12345, Rect{-0.0001, 1.0, 1.50, 100.0}});
    const std::string svg = to_svg(drawing);
    CHECK(svg.find("<rect x=\"0\" y=\"1\" width=\"1.5\" height=\"100\" fill=\"#000000\" fill-opacity=\"0.123\"/>") !=
          std::string::npos);
    CHECK(svg.find("viewBox=\"0 0 10 2.5\"") != std::string::npos);
}

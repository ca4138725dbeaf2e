// A figure as a page.
#include <catch2/catch.hpp>

#include "paint/html.h"
#include "paint/svg.h"

using namespace headscope;
using Catch::Matchers::Contains;

TEST_CASE("A page holds the picture and what each of its parts stands for, and needs nothing else", "[html]") {
    Drawing drawing{20.0, 10.0, "A & B", "Two words.", {}};
    drawing.primitives.push_back(
        {{Role::Attention, 3, 1, 0, "head 3: it \u2192 cat 0.54"}, kBlack, 0.5, Line{1, 1, 5, 5, 1}});
    drawing.primitives.push_back(
        {{Role::QueryLabel, 0, 1}, kBlack, 1.0, Text{1, 1, 1, Anchor::Start, false, false, "it"}});
    const std::string page = to_html(drawing);
    CHECK_THAT(page, Contains("<!DOCTYPE html>") && Contains("<title>A &amp; B</title>") && Contains("Two words."));
    CHECK_THAT(page, Contains("<line class=\"line\" data-query=\"1\" data-key=\"0\" data-head=\"3\" x1="));
    CHECK_THAT(page, Contains("<text data-query=\"1\" x="));
    CHECK_THAT(page, Contains("head 3: it \u2192 cat 0.54"));
    CHECK_THAT(page,
               Contains("aria-label=\"A &amp; B\"") && !Contains("<title id="));  // a tooltip of the whole drawing
    CHECK_THAT(page, Contains("addEventListener('pointerleave'"));
    for (const char* outside : {"src=", "href=", "@import", "url("}) {
        CHECK_THAT(page, !Contains(outside));
    }
    CHECK_THAT(to_svg(drawing), !Contains("data-"));
}

TEST_CASE("A page escapes what tokens hold", "[html]") {
    constexpr const char* kToken = "</title><script>\"'&amp;";
    constexpr const char* kEscaped = "&lt;/title&gt;&lt;script&gt;&quot;&#39;&amp;amp;";
    Drawing drawing{20.0, 10.0, kToken, kToken, {}};
    drawing.primitives.push_back({{Role::Cell, 1, 0, 0, kToken}, kBlack, 1.0, Rect{1, 1, 5, 5}});
    drawing.primitives.push_back(
        {{Role::QueryLabel, 0, 1}, kBlack, 1.0, Text{1, 1, 1, Anchor::Start, false, false, kToken}});
    const std::string page = to_html(drawing);
    CHECK_THAT(page, !Contains(kToken));
    const auto held = [&](const std::string& before, const std::string& behind) {
        CHECK_THAT(page, Contains(before + kEscaped + behind));
    };
    held("<title>", "</title>\n<style>");   // of the page
    held("aria-label=\"", "\"");            // of the drawing
    held("<desc id=\"desc\">", "</desc>");  // for screen readers
    held("<figcaption>", "</figcaption>");  // below it
    held("><title>", "</title></rect>");    // the tooltip of a part
    held(">", "</text>");                   // a word
}

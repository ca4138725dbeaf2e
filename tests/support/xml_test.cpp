#include "support/xml.h"

#include <catch2/catch.hpp>

using namespace headscope;

TEST_CASE("text is escaped, and characters invalid in XML become the replacement character", "[xml]") {
    CHECK(escape_xml("a < b & \"c\" > 'd'") == "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
    CHECK(escape_xml("„Straße“ 日本 🙂") == "„Straße“ 日本 🙂");
    CHECK(escape_xml(std::string("a\x01z")) == "a\uFFFDz");
    CHECK(escape_xml("\xC3") == "\uFFFD");                      // cut off
    CHECK(escape_xml("\xC0\xAF") == "\uFFFD\uFFFD");            // overlong
    CHECK(escape_xml("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");  // a surrogate
    CHECK(escape_xml("\xEF\xBF\xBF") == "\uFFFD");              // U+FFFF
    CHECK(escape_xml("\xF5\x80\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
}

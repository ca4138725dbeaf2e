#include "io/strict_json.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

nlohmann::json parse(const std::string& text) {
    std::istringstream stream(text);
    return parse_json(stream, "a.json");
}

}  // namespace

TEST_CASE("handwritten JSON is read", "[json]") {
    CHECK(parse(R"({"a": {"b": 1, "c": [{"b": 2}, {"b": 3}]}, "b": "a"})") ==
          nlohmann::json::parse(R"({"a": {"b": 1, "c": [{"b": 2}, {"b": 3}]}, "b": "a"})"));
    CHECK(parse("7") == 7);
}

TEST_CASE("a duplicate key is an error with its name", "[json]") {
    for (const char* text :
         {R"({"b": 4, "c": {"d": [{}]}, "b": 8})", R"({"a": [{"b": 1}, {"b": 1, "b": 1}]})", R"({"b": {}, "b": {}})"}) {
        CHECK_THAT(error_of([&] { parse(text); }), Contains("a.json") && Contains("duplicate key \"b\""));
    }
}

TEST_CASE("invalid JSON is an error with its line", "[json]") {
    CHECK_THAT(error_of([&] { parse("{\n\"a\": ]}"); }),
               Contains("a.json is not valid JSON: ") && Contains("line 2") && !Contains("json.exception"));
    CHECK_THAT(error_of([&] { parse(""); }), Contains("a.json is not valid JSON"));
}

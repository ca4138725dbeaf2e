// Keys, values, and what obeys them.
#include "tests/capi/handles.h"

using namespace headscope_tests;
using nlohmann::json;

namespace {

std::string refused(const char* key, const std::string& value, hs_status wanted) {
    hs_options* options = hs_options_new();
    Problem problem;
    CHECK(hs_options_set_json(options, key, text(value), &problem) == wanted);
    hs_options_free(options);
    CHECK(hs_error_status(problem.get()) == wanted);
    return message_of(problem);
}

}  // namespace

TEST_CASE("options are known by their keys, types and ranges") {
    CHECK_THAT(refused("baem", "3", HS_NOT_FOUND), Catch::Matchers::Contains("did you mean \"beam\"?"));
    CHECK_THAT(refused("beam", "31", HS_INVALID), Catch::Matchers::Contains("from 1 to 30, got 31"));
    CHECK_THAT(refused("threads", "0", HS_INVALID),
               Catch::Matchers::Contains("\"threads\" must be a whole number from 1"));
    CHECK_THAT(refused("timeout", "-1", HS_INVALID), Catch::Matchers::Contains("\"timeout\" must be a number from 0"));
    CHECK_THAT(refused("stream", "2", HS_INVALID),
               Catch::Matchers::Contains("\"stream\" must be true or false, got 2"));
    CHECK_THAT(refused("precision", "\"f99\"", HS_INVALID), Catch::Matchers::Contains("must be one of f32, tf32"));
    CHECK_THAT(refused("devices", "\"cpu\"", HS_INVALID),
               Catch::Matchers::Contains("\"devices\" must be a list, got \"cpu\""));
    CHECK_THAT(refused("beam", "{", HS_INVALID), Catch::Matchers::Contains("\"beam\" is not JSON: \"{\""));
    CHECK(refused("nonsense", "null", HS_NOT_FOUND) != "");
    CHECK_THAT(refused("beam", std::string(1'000'000, '['), HS_INVALID),
               Catch::Matchers::Contains("nested too deeply"));
    CHECK_THAT(refused("beam", "\"" + std::string(9'000, 'a') + "\"", HS_INVALID),
               Catch::Matchers::Contains("\"beam\" must be"));
    CHECK_THAT(refused("edits", "\"\xff\"", HS_INVALID), Catch::Matchers::Contains("is not JSON"));
    CHECK(hs_options_set_text(hs_options_new(), "beam", text("\xff"), nullptr) == HS_INVALID);
    CHECK(hs_options_set_integer(nullptr, "beam", 1, nullptr) == HS_INVALID);
    CHECK(hs_options_set_integer(hs_options_new(), nullptr, 1, nullptr) == HS_INVALID);
}

TEST_CASE("null takes an option away, and 0 and 1 are booleans where these are wanted") {
    hs_options* options = hs_options_new();
    CHECK(hs_options_set_integer(options, "stream", 1, nullptr) == HS_OK);
    CHECK(hs_options_set_number(options, "length_penalty", 0.5, nullptr) == HS_OK);
    Buffer devices;
    Problem problem;
    CHECK(hs_devices(options, &devices, &problem) == HS_INVALID);
    CHECK_THAT(message_of(problem), Catch::Matchers::Contains("means nothing to hs_devices: it is for"));
    for (const char* key : {"stream", "length_penalty"}) {
        CHECK(hs_options_set_json(options, key, text("null"), nullptr) == HS_OK);
    }
    CHECK(hs_devices(options, &devices, nullptr) == HS_OK);
    hs_options_free(options);
}

TEST_CASE("every option is listed with what obeys it") {
    Buffer list;
    REQUIRE(hs_options_keys(&list, nullptr) == HS_OK);
    std::size_t decoding = 0;
    for (const json& row : json_of(list)) {
        INFO(row.dump());
        CHECK_FALSE(row.at("for").empty());
        CHECK_FALSE(row.at("help").get<std::string>().empty());
        decoding += row.at("key") == "beam" || row.at("key") == "max_extra" ? 1 : 0;
    }
    CHECK(decoding == 2);
}

TEST_CASE("a request refuses an option that its kind does not obey") {
    const Model model = opened("en-de");
    CHECK_THAT(submit(model, HS_TOKENIZE, {"a"}, {{"beam", 2}}).message,
               Catch::Matchers::Contains("\"beam\" means nothing to HS_TOKENIZE: it is for HS_TRANSLATE, HS_COMPLETE"));
    CHECK_THAT(submit(model, HS_TRANSLATE, {"a"}, {{"temperature", 0.5}}).message,
               Catch::Matchers::Contains("\"temperature\" needs option: \"sample\""));
    CHECK_THAT(submit(model, HS_ATTEND, {"a"}, {{"layer", 2}}).message, Catch::Matchers::Contains("give both"));
    CHECK_THAT(submit(model, HS_ATTEND, {"a"}, {{"edits", {{{"kind", "encoder"}, {"layer", 1}}}}}).message,
               Catch::Matchers::Contains("an edit has a whole number from 1 as \"head\""));
    CHECK_THAT(submit(model, HS_ATTEND, {"a"}, {{"edits", {{{"kin", "encoder"}}}}}).message,
               Catch::Matchers::Contains("no \"kin\""));
}

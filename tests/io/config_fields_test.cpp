// A table of fields reads, writes, checks and documents a configuration.
#include "io/config_fields.h"

#include <catch2/catch.hpp>

#include "support/check.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

enum class Shade : std::uint8_t { Light, Dark, Unnamed };
struct Lamp {
    int watts = 40;
    double height = 1.5;
    bool on = false;
    Shade shade = Shade::Light;
    int spare_bulbs = 0;
    int minutes = 0;
};

const ConfigFields<Lamp> kFields = {
    integer_field("watts", &Lamp::watts, 1, 100, "power"),
    number_field("height", &Lamp::height, 0.5, 2.5, "in metres"),
    boolean_field("on", &Lamp::on, "at the start"),
    choice_field("shade", &Lamp::shade, {{"light", Shade::Light}, {"dark", Shade::Dark}}, "its colour"),
    integer_field("spare_bulbs", &Lamp::spare_bulbs, 0, 9, "in the box")
        .by_default("watts / 40", [](ConfigReader&, Lamp& lamp) { lamp.spare_bulbs = lamp.watts / 40; }),
    integer_field("minutes", &Lamp::minutes, 1, 60, "until it goes out")
        .only_if({"`on` is `true`", [](const Lamp& lamp) { return lamp.on; }}),
};

Lamp read(const json& object) {
    Lamp lamp;
    ConfigReader reader(object, "lamp.json", "");
    read_fields(kFields, reader, lamp);
    reader.finish();
    return lamp;
}

}  // namespace

TEST_CASE("fields are read, absent ones have their defaults", "[config_fields]") {
    const json all = {{"watts", 80},     {"height", 2.0},    {"on", true},
                      {"shade", "dark"}, {"spare_bulbs", 5}, {"minutes", 9}};
    CHECK(write_fields(kFields, read(all)) == all);
    CHECK(write_fields(kFields, read(json::object())) ==
          json{{"watts", 40}, {"height", 1.5}, {"on", false}, {"shade", "light"}, {"spare_bulbs", 1}, {"minutes", 0}});
    CHECK(read({{"watts", 80}}).spare_bulbs == 2);
    CHECK_THROWS_WITH(read({{"wats", 80}}), Contains("lamp.json: \"wats\" is unknown; did you mean \"watts\"?"));
    CHECK_THROWS_WITH(read({{"watts", 101}}), Contains("\"watts\" must be a whole number from 1 to 100, found 101"));
    CHECK_THROWS_WITH(read({{"shade", "red"}}), Contains("must be one of \"light\", \"dark\", found \"red\""));
}

TEST_CASE("a key without a meaning has the value of an absent one", "[config_fields]") {
    CHECK(read({{"minutes", 0}}).minutes == 0);
    CHECK_THROWS_WITH(read({{"minutes", 9}}),
                      Contains("\"minutes\" must be left out unless \"on\" is \"true\", found 9"));
    CHECK_THROWS_WITH(read({{"on", true}, {"minutes", 0}}),
                      Contains("\"minutes\" must be a whole number from 1 to 60"));
    CHECK_THROWS_AS(check_fields(kFields, Lamp{.minutes = 9}, "here"), Error);
    CHECK_NOTHROW(check_fields(kFields, Lamp{.on = true, .minutes = 9}, "here"));
}

TEST_CASE("members that could not be read are rejected", "[config_fields]") {
    const auto problem = [](const Lamp& lamp) { CHECK_THROWS_AS(check_fields(kFields, lamp, "here"), Error); };
    CHECK_NOTHROW(check_fields(kFields, Lamp{}, "here"));
    problem({.watts = 0});
    problem({.height = 2.6});
    problem({.height = std::numeric_limits<double>::quiet_NaN()});
    problem({.shade = Shade::Unnamed});
    problem({.spare_bulbs = -1});
}

TEST_CASE("the table for the documents has a line for each field", "[config_fields]") {
    CHECK(table_of_fields(kFields) ==
          "| key | values | default | meaning |\n|---|---|---|---|\n"
          "| `watts` | 1 to 100 | 40 | power |\n"
          "| `height` | 0.5 to 2.5 | 1.5 | in metres |\n"
          "| `on` | true, false | false | at the start |\n"
          "| `shade` | `\"light\"`, `\"dark\"` | `\"light\"` | its colour |\n"
          "| `spare_bulbs` | 0 to 9 | watts / 40 | in the box |\n"
          "| `minutes` | 1 to 60 | 0 | until it goes out; only if `on` is `true` |\n");
}

// Each row of the table of decoding options, by every door: JSON, text, the command line, programs and documents.
#include "infer/decoding_keys.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "infer/decoding_choices.h"
#include "infer/translation.h"
#include "io/atomic_file.h"
#include "io/whole_file.h"
#include "options/decoding_flags.h"
#include "support/check.h"
#include "support/usage_error.h"
#include "tests/house/files.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::string text_of(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

// Values that the key takes, at the ends of its range; of a list, one that holds something.
std::vector<json> values_of(const DecodingKey& key) {
    static const std::map<std::string, json> lists = {
        {"bad_words", {{4}, {5, 6}}}, {"stop", {"x", "y"}},     {"ends", {4, 2}},
        {"bad_first", {7}},           {"end_growth", {3, 1.5}}, {"sequence_bias", {{{4, 5}, -1.5}}}};
    if (key.type == "boolean") {
        return {true};
    }
    if (key.type == "integer") {
        const bool any = key.most == kAny64;
        return {static_cast<std::int64_t>(key.least),
                any ? json(UINT64_MAX) : json(static_cast<std::int64_t>(key.most))};
    }
    if (key.type == "number") {
        return {key.above ? (key.least + key.most) / 2 : key.least, key.most};
    }
    if (key.type == "choice") {
        std::vector<json> values;
        for (const char* name : key.names) {
            values.push_back(json_of_text(key, name));
        }
        return values;
    }
    return key.type == "text" ? std::vector<json>{"deu"} : std::vector<json>{lists.at(key.key)};
}

// Values that it refuses, and what it says of each.
std::vector<std::pair<json, std::string>> refused_by(const DecodingKey& key) {
    if (key.type == "integer" || key.type == "number") {
        const bool whole = key.type == "integer";
        const bool any = key.most == kAny64;
        const std::string range =
            key.above ? fmt::format("must be a number above {} and at most {:.10g}, got ", key.least, key.most)
                      : fmt::format("must be a {} from {} to {}, got ", whole ? "whole number" : "number", key.least,
                                    any ? std::to_string(UINT64_MAX) : fmt::format("{:.10g}", key.most));
        const double below = key.above ? key.least : key.least - 1;
        const json least = whole ? json(static_cast<std::int64_t>(below)) : json(below);
        const json most = whole ? json(static_cast<std::int64_t>(any ? 0.0 : key.most) + 1) : json(key.most + 1);
        return {{least, range}, {json("x"), range}, {any ? least : most, range}};
    }
    if (key.type == "boolean") {
        return {{1, "must be true or false, got "}};
    }
    if (key.type == "choice") {
        return {{"x", "must be one of " + key.values() + ", got "}};
    }
    return key.type == "text" ? std::vector<std::pair<json, std::string>>{{json(1), "must be a text, got "}}
                              : std::vector<std::pair<json, std::string>>{{json(1), "must "}};
}

template <class Act>
std::string error_of(const Act& act) {
    try {
        act();
    } catch (const CLI::Error& error) {
        return error.what();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

DecodingChoices from_json(const DecodingKey& key, const json& value) {
    DecodingChoices choices;
    set_choices(choices, {{key.key, value}}, "request");
    return choices;
}

DecodingChoices from_text(const DecodingKey& key, const json& value) {
    DecodingChoices choices;
    set_choice(choices, key.key, text_of(value), "request");
    return choices;
}

DecodingChoices from_flag(const DecodingKey& key, const json& value) {
    DecodingChoices choices;
    CLI::App command;
    add_decoding_flags(command, choices, {key.key});
    std::vector<std::string> words;  // the last one first, as CLI11 takes them
    if (key.type == "list") {
        for (auto each = value.rbegin(); each != value.rend(); ++each) {
            words.insert(words.end(), {text_of(*each), key.flag()});
        }
    } else if (key.type == "boolean") {
        words = {key.flag()};
    } else {
        words = {text_of(value), key.flag()};
    }
    command.parse(words);
    return choices;
}

ModelConfig model_of(unsigned writer) {
    ModelConfig config;
    config.architecture = writer == kCompletes ? Architecture::CausalLm
                          : writer == 0        ? Architecture::MaskedLm
                                               : Architecture::EncoderDecoder;
    config.generation = writer == kMaskPredict ? Generation::MaskPredict : Generation::LeftToRight;
    return config;
}

}  // namespace

TEST_CASE("each decoding option comes back from JSON, from text and from its flag") {
    CHECK(decoding_keys().size() >= 38);
    for (const DecodingKey& key : decoding_keys()) {
        for (const json& value : values_of(key)) {
            INFO(key.key << ": " << value);
            const DecodingChoices choices = from_json(key, value);
            CHECK(to_json(choices) == json{{key.key, value}});
            CHECK(key.value(key, choices.applied_to({})) == value);
            CHECK(from_text(key, value) == choices);
            CHECK((!key.has_flag || from_flag(key, value) == choices));
            CHECK(choices.over(SearchOptions{}) == choices.applied_to({}).search);
        }
    }
}

TEST_CASE("a decoding option's range is the same by every door, which names the key and the value") {
    for (const DecodingKey& key : decoding_keys()) {
        for (const auto& [value, core] : refused_by(key)) {
            INFO(key.key << ": " << value);
            const std::string found = value.is_string() ? "\"x\"" : value.dump();
            CHECK_THAT(error_of([&] { from_json(key, value); }),
                       Contains(fmt::format("request: \"{}\" {}", key.key, core)) && Contains("got " + found));
            if (key.type != "text" && key.key != std::string("stop")) {  // any text is one
                CHECK_THAT(error_of([&] { from_text(key, value); }),
                           Contains(fmt::format("request: \"{}\" {}", key.key, core)));
            }
            if (key.has_flag && (key.type == "integer" || key.type == "number" || key.type == "choice")) {
                CHECK(error_of([&] { from_flag(key, value); }) == key.flag() + ": " + core + text_of(value));
            }
        }
        if (key.type == "number") {
            CHECK_THAT(error_of([&] { from_json(key, std::nan("")); }), Contains(key.key));
        }
        if (key.has_flag && key.type != "boolean") {
            CHECK_THAT(error_of([&] { from_flag(key, key.type == "list" ? json{""} : json("")); }), Contains("must"));
        }
    }
    CHECK(error_of([] { check_search_options({.beam = 31}); }) ==
          "\"beam\" must be a whole number from 1 to 30, got 31");
    CHECK(error_of([] { check_search_options({.length_candidates = 0}); }) ==
          "\"lengths\" must be a whole number from 1 to 64, got 0");
    CHECK(error_of([] { check_search_options({.top_p = 0.0}); }) ==
          "\"top_p\" must be a number above 0 and at most 1, got 0.0");
    CHECK_THAT(error_of([] { check_search_options({.max_factor = std::nan("")}); }),
               Contains("\"max_factor\" must be"));
}

TEST_CASE("numbers of decoding options are decimal") {
    const DecodingKey& beam = decoding_key("beam");
    for (const char* text : {"010", "-04", "+4", "4.0", "0x4", " 4", "99999999999999999999"}) {
        CHECK(error_of([&] { from_flag(beam, text); }) ==
              fmt::format("--beam: must be a whole number from 1 to 30, got {}", text));
    }
    CHECK_THAT(error_of([&] { from_json(beam, 4.0); }), Contains("got 4.0"));
    CHECK_THAT(error_of([&] { from_json(decoding_key("seed"), -1); }), Contains("from 0 to 18446744073709551615"));
}

TEST_CASE("an unknown decoding option is refused with a similar one") {
    DecodingChoices choices;
    CHECK_THAT(error_of([&] {
                   set_choices(choices, {{"baem", 3}}, "request");
               }),
               Contains("request: \"baem\" is unknown; did you mean \"beam\"?"));
    CHECK_THAT(error_of([&] { set_choice(choices, "top-p", "1", "request"); }), Contains("did you mean \"top_p\"?"));
    CHECK_THAT(error_of([&] {
                   parse_decoding_choices({{"no_repeat", 3}}, "decoding.json");
               }),
               Contains("decoding.json: \"no_repeat\" is unknown; did you mean \"no_repeat_ngram\"?"));
    CHECK(choices == DecodingChoices{});
}

TEST_CASE("decoding.json names the chat template") {
    const auto complaint = [](const nlohmann::json& chat) {
        return error_of([&] { parse_decoding_choices({{"chat", chat}}, "decoding.json"); });
    };
    CHECK(parse_decoding_choices({{"chat", "gemma"}, {"beam", 2}}, "decoding.json") == DecodingChoices{.beam = 2});
    CHECK(complaint({{"jinja", "{{ messages }}"}}).empty());
    CHECK_THAT(complaint("jemma"), Contains("decoding.json: \"chat\": there is no chat template 'jemma'; known are"));
    CHECK_THAT(complaint(7), Contains("decoding.json: \"chat\" must be the name of a chat template, found number"));
    CHECK_THAT(complaint({{"jinja", 7}}), Contains("decoding.json: \"chat.jinja\""));
    CHECK_THAT(complaint(nlohmann::json::object()), Contains("decoding.json: \"chat.jinja\""));
    CHECK_THAT(complaint({{"jinja", "x"}, {"name", "y"}}), Contains("\"chat.name\" is unknown"));
    DecodingChoices choices;
    CHECK_THAT(error_of([&] {
                   set_choices(choices, {{"chat", "gemma"}}, "request");
               }),
               Contains("\"chat\" is unknown"));
}

TEST_CASE("decoding.json holds what a model's author may choose") {
    for (const DecodingKey& key : decoding_keys()) {
        INFO(key.key);
        const json file{{key.key, values_of(key).front()}};
        const std::string error = error_of([&] { parse_decoding_choices(file, "decoding.json"); });
        CHECK(error == (key.of_model ? ""
                                     : fmt::format("decoding.json: \"{}\" is no choice of a model's author: it belongs "
                                                   "to a request",
                                                   key.key)));
    }
}

TEST_CASE("a decoding option that a model does not obey is refused by name") {
    for (const DecodingKey& key : decoding_keys()) {
        DecodingChoices choices = from_json(key, values_of(key).front());
        if (*key.needs != '\0') {
            const DecodingKey& needed = decoding_key(key.needs);
            set_choices(choices, {{key.needs, values_of(needed).front()}}, "request");
        }
        for (const unsigned writer : {0U, kTranslatesInOrder, kMaskPredict, kCompletes}) {
            INFO(key.key << " of " << writer);
            const std::string file = error_of([&] { check_choices(choices, model_of(writer), "decoding.json"); });
            const std::string flag = error_of([&] { check_choices(choices, model_of(writer)); });
            if ((key.writers & writer) != 0) {
                CHECK(file.empty());
                CHECK(flag.empty());
            } else {
                CHECK_THAT(file, Contains(fmt::format("decoding.json: \"{}\" is for ", key.key)) ||
                                     Contains(fmt::format("decoding.json: \"{}\" is for ", key.needs)));
                CHECK_THAT(file, Contains("models"));
                CHECK((!key.has_flag || flag.starts_with(key.flag(writer) + " is for ") ||
                       flag.starts_with(fmt::format("--{} is for ", key.needs)) ||
                       flag.starts_with("--n-best is for ")));
            }
        }
    }
}

TEST_CASE("decoding options that need or exclude another one say so") {
    const auto error = [](const json& values) {
        DecodingChoices choices;
        set_choices(choices, values, "request");
        return error_of([&] { check_choices(choices); });
    };
    CHECK(error({{"top_p", 0.5}}) == "--top-p needs --sample: without it, it has no effect");
    CHECK(error({{"top_p", 0.5}, {"sample", false}}).starts_with("--top-p needs --sample"));
    CHECK(error({{"top_p", 0.5}, {"sample", true}}).empty());
    CHECK(error({{"n_best_duplicates", true}}).starts_with("--n-best-duplicates needs --n-best"));
    CHECK(error({{"sample", true}, {"beam", 4}}) == "--sample and --beam contradict each other: leave one out");
    CHECK(error({{"sample", true}, {"n_best", 2}}).starts_with("--sample and --n-best contradict"));
    CHECK(DecodingChoices{.sample = true}.over(SearchOptions{}).beam == 1);
}

TEST_CASE("programs get a list of the decoding options") {
    const auto list = list_decoding_keys();
    REQUIRE(list.size() == decoding_keys().size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        const DecodingKey& key = decoding_keys()[i];
        CHECK(list[i]["key"] == key.key);
        CHECK(list[i]["type"] == key.type);
        CHECK(list[i].contains("least") == (key.type == "integer" || key.type == "number"));
        CHECK(list[i]["translates"] == ((key.writers & kTranslatesInOrder) != 0));
        CHECK_FALSE(list[i]["help"].get<std::string>().empty());
    }
    CHECK(list[0].dump() ==
          R"({"key":"beam","type":"integer","values":"1 to 30","least":1.0,"least_excluded":false,"most":30.0,)"
          R"("default":4,"completion_default":1,"translates":true,"mask_predict":false,"completes":true,)"
          R"("in_decoding_json":true,"help":"Hypotheses kept; 1 takes the likeliest piece each time"})");
}

// HEADSCOPE_UPDATE_GOLDENS=1 test_infer "[docs]" writes the tables into the page.
TEST_CASE("the page of decoding options has the program's tables", "[docs]") {
    const std::string file = checkout_file("docs/decoding.md");
    std::string page = read_whole_file(file, file);
    for (const bool of_model : {true, false}) {
        const std::string name = of_model ? "model keys -->\n" : "request keys -->\n";
        const std::size_t from = page.find("<!-- " + name) + 5 + name.size();
        const std::size_t length = page.find("<!-- /" + name) - from;
        REQUIRE(length < page.size());
        if (std::getenv("HEADSCOPE_UPDATE_GOLDENS") != nullptr) {
            page.replace(from, length, table_of_decoding_keys(of_model));
            atomic_write_file(file, page);
        } else {
            CHECK(page.substr(from, length) == table_of_decoding_keys(of_model));
        }
    }
}

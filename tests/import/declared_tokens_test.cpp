// Tokens that a Hugging Face folder declares beside its vocabulary.
#include "import/declared_tokens.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

void write(const TemporaryFolder& folder, const char* name, const json& content) {
    std::ofstream(folder.file(name)) << content.dump();
}

// "id content flags", in order; the flags are those of the token that are set.
std::vector<std::string> listed(const std::vector<DeclaredToken>& tokens) {
    std::vector<std::string> lines;
    for (const auto& [token, id, has_rules] : tokens) {
        std::string line = std::to_string(id) + " " + token.content;
        line += token.special ? " special" : "";
        line += token.lstrip ? " lstrip" : "";
        line += token.rstrip ? " rstrip" : "";
        line += token.normalized ? " normalized" : "";
        line += token.single_word ? " single_word" : "";
        lines.push_back(std::move(line));
    }
    return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the older files declare tokens with their rules", "[declared_tokens]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("");
    CHECK(declared_tokens(path, json::object()).empty());
    write(folder, "added_tokens.json", {{"covid", 12}, {"<sep>", 11}, {"[PAD]", 10}});
    write(folder, "special_tokens_map.json",
          {{"pad_token", "[PAD]"},
           {"mask_token", {{"content", "<mask>"}, {"lstrip", true}, {"normalized", false}}},
           {"additional_special_tokens", {"<sep>", "<end>"}}});
    CHECK(listed(declared_tokens(path, {{"pad_token", "<pad>"}, {"cls_token", "<s>"}})) ==
          Lines{"10 [PAD] special", "11 <sep> special", "12 covid normalized", "-1 <s> special",
                "-1 <mask> special lstrip", "-1 <end> special"});
    write(folder, "added_tokens.json", {{"covid", "12"}});
    CHECK_THAT(error_of([&] { declared_tokens(path, json::object()); }),
               Contains("added_tokens.json: the id of the token 'covid' must be an integer"));
}

TEST_CASE("files that do not declare tokens as expected are named", "[declared_tokens]") {
    const TemporaryFolder folder;
    const auto problem = [&](const json& settings) {
        return error_of([&] { declared_tokens(folder.file(""), settings); });
    };
    CHECK_THAT(problem({{"mask_token", 5}}), Contains("tokenizer_config.json: \"mask_token\" is 5: expected a string"));
    CHECK_THAT(problem({{"added_tokens_decoder", {1, 2}}}),
               Contains("\"added_tokens_decoder\": expected a JSON object, found array"));
    write(folder, "added_tokens.json", {1, 2});
    CHECK_THAT(problem(json::object()), Contains("added_tokens.json: expected a JSON object, found array"));
    write(folder, "special_tokens_map.json", {"a", 5});
    CHECK_THAT(problem(json::object()), Contains("special_tokens_map.json: expected a JSON object"));
    write(folder, "special_tokens_map.json", {{"cls_token", {{"text", "a"}}}, {"sep_token", nullptr}});
    CHECK_THAT(problem(json::object()), Contains("special_tokens_map.json: \"cls_token\" is {"));
}

TEST_CASE("a token's role is read", "[declared_tokens]") {
    const TemporaryFolder folder;
    const json settings{{"mask_token", {{"content", "[M]"}}}, {"sep_token", "[S]"}};
    CHECK(declared_role(folder.file(""), settings, "mask_token") == "[M]");
    CHECK(declared_role(folder.file(""), settings, "sep_token") == "[S]");
    CHECK(declared_role(folder.file(""), settings, "cls_token").empty());
}

TEST_CASE("added_tokens_decoder replaces the older files", "[declared_tokens]") {
    const TemporaryFolder folder;
    write(folder, "added_tokens.json", {{"covid", 12}});
    const json settings = {{"added_tokens_decoder",
                            {{"11", {{"content", "b"}, {"single_word", true}, {"rstrip", true}}},
                             {"9", {{"content", "a"}, {"special", true}}}}},
                           {"additional_special_tokens", {"b"}},
                           {"eos_token", {{"content", "e"}, {"lstrip", true}}}};
    CHECK(listed(declared_tokens(folder.file(""), settings)) ==
          Lines{"9 a special", "11 b special rstrip normalized single_word", "-1 e special lstrip"});
    CHECK_THAT(error_of([&] {
                   declared_tokens(folder.file(""), {{"added_tokens_decoder", {{"x", "a"}}}});
               }),
               Contains("\"added_tokens_decoder\" has \"x\": \"a\""));
}

TEST_CASE("declared tokens join those of a tokenizer.json", "[declared_tokens]") {
    json file = {{"added_tokens", {{{"id", 2}, {"content", "old"}, {"lstrip", false}}}},
                 {"model", {{"vocab", {{"x", 0}, {"in", 1}}}}}};
    std::vector<std::string> left_out;
    const std::vector<DeclaredToken> declared{
        {.token = {"old", true, true}, .has_rules = true}, {.token = {"in"}}, {.token = {"new"}}, {.token = {"out"}}};
    CHECK(add_declared(file, declared, 4, left_out));
    CHECK(left_out == Lines{"out"});
    REQUIRE(file["added_tokens"].size() == 3);
    CHECK(file["added_tokens"][0]["lstrip"] == true);
    CHECK(file["added_tokens"][1]["id"] == 1);
    CHECK(file["added_tokens"][2]["id"] == 3);
    CHECK_FALSE(add_declared(file, declared, 4, left_out));
}

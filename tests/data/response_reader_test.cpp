#include "data/response_reader.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "support/check.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;

namespace {

Responses parsed(const std::string& line, ResponseForm form) {
    return parse_responses(line, "'a.jsonl' line 7", form);
}

std::string complaint(const std::string& line, ResponseForm form) {
    try {
        parsed(line, form);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a prompt and its response are two texts", "[responses]") {
    const Responses found = parsed(R"({"prompt": "Hello", "response": "Hi"})", ResponseForm::Written);
    CHECK(found.plain);
    CHECK(found.prompt == std::vector<ChatMessage>{{ChatRole::User, "Hello"}});
    CHECK(found.texts == std::vector<std::string>{"Hi"});
    CHECK_FALSE(found.whole);
}

TEST_CASE("a prompt may be a conversation, and a whole conversation has its responses in it", "[responses]") {
    const char* messages = R"([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"})";
    const Responses prompt =
        parsed(fmt::format(R"({{"prompt": {}], "response": "Hi"}})", messages), ResponseForm::Written);
    CHECK_FALSE(prompt.plain);
    CHECK(prompt.prompt.size() == 2);
    CHECK(prompt.prompt[0] == ChatMessage{ChatRole::System, "Be brief."});
    const Responses whole =
        parsed(fmt::format(R"({{"messages": {}, {{"role": "assistant", "content": "Hi"}}]}})", messages),
               ResponseForm::Written);
    CHECK(whole.whole);
    CHECK(whole.prompt.back() == ChatMessage{ChatRole::Assistant, "Hi"});
    CHECK(whole.texts.empty());
}

TEST_CASE("ranked responses have ranks, and those that are as good have the same", "[responses]") {
    const Responses ranked = parsed(R"({"prompt": "P", "ranked": ["a", ["b", "c"], "d"]})", ResponseForm::Ranked);
    CHECK(ranked.texts == std::vector<std::string>{"a", "b", "c", "d"});
    CHECK(ranked.ranks == std::vector<std::int32_t>{1, 2, 2, 3});
    CHECK_FALSE(ranked.tied());
    CHECK(parsed(R"({"prompt": "P", "ranked": [["a", "b"]]})", ResponseForm::Ranked).tied());
    const Responses two = parsed(R"({"prompt": "P", "chosen": "a", "rejected": "b"})", ResponseForm::Any);
    CHECK(two.texts == std::vector<std::string>{"a", "b"});
    CHECK(two.ranks == std::vector<std::int32_t>{1, 2});
}

TEST_CASE("each mistake in a line is named with its place", "[responses]") {
    const auto [line, form, problem] = GENERATE(table<const char*, ResponseForm, const char*>(
        {{"", ResponseForm::Written, "is not valid JSON"},
         {"[1]", ResponseForm::Written, "must be an object {...}, found array"},
         {R"({"prompt": "a", "prompt": "b", "response": "c"})", ResponseForm::Written, "duplicate key \"prompt\""},
         {R"({"prompt": "a"})", ResponseForm::Written, "\"response\" is missing"},
         {R"({"prompt": "a", "response": ""})", ResponseForm::Written, "\"response\" is empty"},
         {R"({"prompt": "a", "response": 3})", ResponseForm::Written, "\"response\" must be text, found 3"},
         {R"({"prompt": "a", "response": "b", "id": 3})", ResponseForm::Written, "\"id\""},
         {R"({"prompt": "a", "ranked": ["b", "c"]})", ResponseForm::Written, "\"response\" is missing"},
         {R"({"prompt": [], "response": "b"})", ResponseForm::Written, "\"prompt\""},
         {R"({"prompt": [{"role": "assistant", "content": "x"}], "response": "b"})", ResponseForm::Written,
          "\"prompt\""},
         {R"({"prompt": [{"role": "robot", "content": "x"}], "response": "b"})", ResponseForm::Written, "robot"},
         {R"({"prompt": [{"role": "user"}], "response": "b"})", ResponseForm::Written, "content\" is missing"},
         {R"({"messages": [{"role": "user", "content": "x"}]})", ResponseForm::Written,
          "must end with a message of the assistant"},
         {R"({"prompt": "a", "ranked": ["b"]})", ResponseForm::Ranked, "a ranking of one response says nothing"},
         {R"({"prompt": "a", "ranked": []})", ResponseForm::Ranked, "a ranking of one response says nothing"},
         {R"({"prompt": "a", "ranked": ["b", "c", "b"]})", ResponseForm::Ranked, "a response is ranked twice: \"b\""},
         {R"({"prompt": "a", "ranked": ["b", [], "c"]})", ResponseForm::Ranked, "\"ranked\" has an empty list"},
         {R"({"prompt": "a", "chosen": "b"})", ResponseForm::Ranked, "\"rejected\" is missing"},
         {R"({"prompt": "a", "response": "b"})", ResponseForm::Ranked, "\"ranked\" is missing"}}));
    INFO(line);
    CHECK_THAT(complaint(line, form), Catch::StartsWith("'a.jsonl' line 7") && Catch::Contains(problem));
}

TEST_CASE("a file of responses is read line by line", "[responses]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("a.jsonl",
                                          "{\"prompt\": \"a\", \"response\": \"b\"}\n"
                                          "{\"prompt\": \"c\", \"response\": \"d\"}\n"
                                          "{\"prompt\": \"\xff\", \"response\": \"d\"}\n");
    ResponseReader reader(path, ResponseForm::Written);
    Responses responses;
    REQUIRE(reader.next(responses));
    REQUIRE(reader.next(responses));
    CHECK(responses.prompt.front().content == "c");
    CHECK(reader.place() == "'" + path + "' line 2");
    CHECK_THROWS_WITH(reader.next(responses), Catch::Contains("line 3 is not UTF-8"));
}

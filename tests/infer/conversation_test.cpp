// Conversations that are longer than a model's context.
#include "infer/conversation.h"

#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <vector>

#include "tests/text/byte_chat_tokenizer.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

ChatEncoder chatml_of_bytes() {
    return {chat_template("chatml"), byte_chat_tokenizer({"<|im_start|>", "<|im_end|>"}), {}};
}

// Tokens around a message of the user and before its reply.
constexpr std::int64_t kAroundUser = 1 + 5 + 1 + 1 + 1 + 10;
// With a reply.
constexpr std::int64_t kAroundExchange = kAroundUser + 2;
constexpr std::int64_t kAroundSystem = 1 + 7 + 1 + 1;

}  // namespace

TEST_CASE("a conversation leaves out its oldest exchanges when the context is full", "[chat]") {
    // Room for two exchanges of 4 + 6 characters, and for a message and a reply.
    const std::int64_t longest = kAroundSystem + 3 + 2 * (kAroundExchange + 10) + kAroundUser + 4 + 6 - 1;
    Conversation chat(chatml_of_bytes(), "sys", longest, 6);
    std::vector<std::size_t> sizes;
    for (int turn = 0; turn < 4; ++turn) {
        CAPTURE(turn);
        const std::string number = std::to_string(turn);
        sizes.push_back(chat.ask("ask" + number).size());
        chat.take("reply" + number);
        CHECK(chat.left_out() == (turn < 3 ? 0 : 1));
    }
    CHECK(sizes[2] > sizes[1]);
    CHECK(sizes[3] == sizes[2]);
    const std::vector<ChatMessage> kept = chat.messages();
    REQUIRE(kept.size() == 7);
    CHECK(kept[0] == ChatMessage{ChatRole::System, "sys"});
    CHECK(kept[1] == ChatMessage{ChatRole::User, "ask1"});
    CHECK(kept[6] == ChatMessage{ChatRole::Assistant, "reply3"});
}

TEST_CASE("a conversation leaves room for a reply", "[chat]") {
    const std::int64_t prompt = kAroundExchange + 2 + kAroundUser + 1;
    const auto left_out = [&](std::int64_t longest) {
        Conversation chat(chatml_of_bytes(), "", longest, 6);
        static_cast<void>(chat.ask("a"));
        chat.take("b");
        static_cast<void>(chat.ask("c"));
        return chat.left_out();
    };
    CHECK(left_out(prompt + 5) == 0);  // the last token of a reply is not read
    CHECK(left_out(prompt + 4) == 1);
}

TEST_CASE("a conversation that is resumed goes on as one that was not interrupted", "[chat]") {
    const std::int64_t longest = kAroundSystem + 3 + 2 * (kAroundExchange + 10) + kAroundUser + 4 + 6 - 1;
    Conversation whole(chatml_of_bytes(), "sys", longest, 6);
    for (const char* turn : {"0", "1", "2", "3"}) {
        static_cast<void>(whole.ask(std::string("ask") + turn));
        whole.take(std::string("reply") + turn);
    }
    const std::vector<ChatMessage> before = whole.messages();
    Conversation resumed(chatml_of_bytes(), "sys", longest, 6);
    resumed.resume(std::span(before).subspan(1), whole.left_out());
    CHECK(resumed.messages() == before);
    CHECK(resumed.ask("ask4") == whole.ask("ask4"));
    CHECK(resumed.left_out() == 2);
    CHECK(resumed.left_out() == whole.left_out());
}

TEST_CASE("a message that does not fit leaves a conversation as it is", "[chat]") {
    Conversation chat(chatml_of_bytes(), "", 60, 6);
    static_cast<void>(chat.ask("one"));
    chat.take("two");
    CHECK_THROWS_WITH(chat.ask(std::string(60, 'x')), Contains("the model's context has 60: shorten it"));
    CHECK(chat.messages().size() == 2);
    CHECK(chat.left_out() == 0);
    static_cast<void>(chat.ask("three"));
    chat.withdraw();
    CHECK(chat.messages().size() == 2);
}

TEST_CASE("replies end with the template's end and with the model's", "[chat]") {
    const ChatEncoder encoder = chatml_of_bytes();
    const std::int32_t end = encoder.ends().front();
    ModelConfig config;
    config.frame.eos_id = 7;
    const auto ends_of = [&](TokenList own) { return reply_ends(std::move(own), encoder, config); };
    CHECK(ends_of({}) == TokenList{end, 7});
    CHECK(ends_of({5, end}) == TokenList{end, 5});
    config.frame.eos_id = -1;
    CHECK(ends_of({}) == TokenList{end});
}

TEST_CASE("a reply with a marker of its template does not end a conversation", "[chat]") {
    Conversation chat({chat_template("zephyr"), byte_chat_tokenizer({"</s>"}), {}}, "", 1000, 6);
    static_cast<void>(chat.ask("one"));
    chat.take("two<|user|>three");
    CHECK(chat.messages().back().content == "two");
    CHECK_NOTHROW(chat.ask("four"));
    chat.take("fi\xffve");
    CHECK(chat.messages().back().content == "fi");
    CHECK_NOTHROW(chat.ask("six"));
}

// Conversations in the window: replies, their heads, and what is left out.
#include "tests/viewer/stage.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "engine/talk.h"
#include "tests/viewer/language_model.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/session/shown.h"
#include "viewer/session/wording.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

constexpr const char* kFirst = "the small dog";
constexpr const char* kSecond = "the big cat sleeps";

ViewState nothing_said(bool sample = false) {
    ViewState state = sentence("", PanelId::Chat);
    state.conversation.sample = sample;
    return state;
}

std::string reply_to(Session& session, const std::string& message) {
    session.say(message);
    REQUIRE(session.replying());
    settle(session);
    REQUIRE(errors_of(session).empty());
    return session.state().conversation.reply.value();
}

json numbers(const Session& session) {
    return json::parse(panel_json(session.scene(), PanelId::Chat));
}

std::string drawn(const Session& session) {
    return texts_of(draw_panel(session.scene(), PanelId::Chat, {}));
}

}  // namespace

TEST_CASE("A message gets the reply of headscope chat, and the heads are those of the conversation",
          "[session][chat]") {
    const TemporaryFolder folder;
    const std::string model = write_chat_model(folder, "talker", 300);
    Session session(on_cpu(model, nothing_said(true)), [] {});
    settle(session);
    CHECK_THAT(drawn(session), Contains("Nothing was said yet: write a message below."));
    const std::string first = reply_to(session, kFirst);
    const ExploreRequest request = session.scene().main.answered.value();
    CHECK(request.source == kFirst);
    CHECK(request.earlier.empty());
    const auto kept = session.scene().main.shown;  // the next reply replaces it
    const Exploration& shown = *kept;
    CHECK(shown.forced);
    CHECK(shown.problem.empty());
    CHECK(output_text(shown) == first);
    CHECK(shown.record.target_out.back().text != "<end>");
    const std::size_t prompt = shown.prompt;
    const std::string second = reply_to(session, kSecond);
    const std::vector<ChatMessage> earlier{{ChatRole::User, kFirst}, {ChatRole::Assistant, first}};
    CHECK(session.scene().main.answered->earlier == earlier);
    CHECK(session.scene().main.shown->prompt > prompt + shown.steps.size() - shown.prompt);
    CHECK(numbers(session).at("messages").size() == 4);
    CHECK(numbers(session).at("messages")[3].at("content") == second);
    CHECK_THAT(drawn(session), Contains("talker") && Contains(kSecond));

    Engine engine({.devices = {"cpu"}}, [](const std::string&) {});
    Talk talk(engine, engine.open({model}), {.choices = {.sample = true}});
    const auto goes_on = [](std::string_view) { return true; };
    CHECK(talk.answer(kFirst, goes_on).text == first);
    CHECK(talk.answer(kSecond, goes_on).text == second);
}

TEST_CASE("A reply can be stopped, and what was written is its text", "[session][chat]") {
    const TemporaryFolder folder;
    const std::string model = write_chat_model(folder, "talker", 600);
    Session session(on_cpu(model, nothing_said()), [] {});
    settle(session);
    const std::string whole = reply_to(session, kFirst);
    session.begin_conversation();
    session.say(kFirst);
    REQUIRE(update_until(
        session, [&] { return session.scene().growing_reply != nullptr && !session.scene().growing_reply->empty(); }));
    CHECK(session.busy());
    CHECK_THAT(drawn(session), Contains("\u2026"));
    session.say(kSecond);  // not while a reply grows
    CHECK(session.state().text == kFirst);
    session.stop_reply();
    settle(session);
    const std::string part = session.state().conversation.reply.value();
    CHECK_FALSE(part.empty());
    CHECK(part.size() < whole.size());
    CHECK(whole.starts_with(part));
    CHECK(session.scene().growing_reply == nullptr);
    CHECK(last_reply_in(session.scene()) == part);
}

TEST_CASE("What no longer fits is left out, which is said once", "[session][chat]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_chat_model(folder, "talker"), nothing_said()), [] {});
    session.state().conversation.system = "a mat";
    settle(session);
    int notes = 0;
    for (int turn = 0; turn < 4; ++turn) {
        reply_to(session, kFirst);
        notes += static_cast<int>(std::ranges::count_if(session.notices(), [](const Notice& notice) {
            return notice.text.find("oldest exchanges are left out; the system message stays") != std::string::npos;
        }));
        while (!session.notices().empty()) {
            session.dismiss(0);
        }
    }
    const Conversed& conversation = session.state().conversation;
    CHECK(notes == 1);
    CHECK(conversation.said.size() == 6);
    CHECK(conversation.left_out > 0);
    CHECK(session.scene().main.answered->earlier.size() ==
          1 + conversation.said.size() - 2 * static_cast<std::size_t>(conversation.left_out));
    CHECK(session.scene().main.answered->earlier.front() == ChatMessage{ChatRole::System, "a mat"});
    CHECK(session.scene().main.shown->problem.empty());
    CHECK_THAT(drawn(session), Contains("no longer reads what is above"));
    CHECK(numbers(session).at("left_out") == conversation.left_out);
}

TEST_CASE("A message that does not fit leaves the conversation as it was", "[session][chat]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_chat_model(folder, "talker"), nothing_said()), [] {});
    settle(session);
    reply_to(session, kFirst);
    const ViewState before = session.state();
    std::string long_one;
    for (int i = 0; i < 40; ++i) {
        long_one += "the small dog ";
    }
    session.say(long_one);
    settle(session);
    CHECK_THAT(errors_of(session), Contains("the model's context has 64: shorten it"));
    CHECK(session.state() == before);
    CHECK(session.take_unsaid() == long_one);
    CHECK_FALSE(session.take_unsaid().has_value());
}

TEST_CASE("A model that was not trained to answer says so", "[session][chat]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_language_model(folder, "causal", Architecture::CausalLm), nothing_said()), [] {});
    settle(session);
    CHECK(offered(session.scene(), PanelId::Chat));
    CHECK_THAT(drawn(session), Contains("has no chat template"));
    session.say(kFirst);
    CHECK_FALSE(session.replying());
    CHECK_THAT(errors_of(session), Contains("has no chat template"));
    CHECK(session.take_unsaid() == kFirst);
    session.state().panel = PanelId::Figure;
    session.open(write_language_model(folder, "masked", Architecture::MaskedLm), "cpu");
    settle(session);
    CHECK_FALSE(offered(session.scene(), PanelId::Chat));
}

TEST_CASE("A conversation begins anew, and is undone like anything else", "[session][chat]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_chat_model(folder, "talker", 600), nothing_said()), [] {});
    session.state().conversation.system = "a mat";
    settle(session);
    const std::string reply = reply_to(session, kFirst);
    const ViewState said = session.state();
    session.begin_conversation();
    session.update(Clock::now() + std::chrono::seconds(2));  // quick changes are one step of the history
    settle(session);
    CHECK(said_in(session.scene()).empty());
    CHECK(session.state().conversation == Conversed{.system = "a mat"});
    session.undo();
    settle(session);
    CHECK(session.state() == said);
    session.say(kSecond);
    REQUIRE(update_until(
        session, [&] { return session.scene().growing_reply != nullptr && !session.scene().growing_reply->empty(); }));
    new_sentence(session.state(), "the mat");  // another message: nobody waits for that reply
    REQUIRE(update_until(session, [&] { return !session.replying(); }));
    settle(session);
    CHECK(session.state().conversation.said.size() == 2);
    CHECK_FALSE(session.state().conversation.reply.has_value());
    CHECK(session.scene().main.shown->source == "the mat");  // which the search answers
    CHECK(reply_in(session.scene()).has_value());
}

TEST_CASE("A text that is a message begins a conversation", "[session][chat]") {
    const TemporaryFolder folder;
    ViewState state = sentence(kFirst, PanelId::Chat);
    state.chat = true;
    Session session(on_cpu(write_chat_model(folder, "talker"), state), [] {});
    settle(session);
    const std::string reply = reply_in(session.scene()).value();
    CHECK_FALSE(reply.empty());
    reply_to(session, kSecond);
    const std::vector<ChatMessage> said{{ChatRole::User, kFirst}, {ChatRole::Assistant, reply}};
    CHECK(session.state().conversation.said == said);
    session.state().chat = false;
    settle(session);
    CHECK(said_in(session.scene()).empty());
    reply_to(session, kSecond);  // a new one
    CHECK(session.state().conversation.said.empty());
}

TEST_CASE("A saved conversation shows the same again", "[session][chat]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_chat_model(folder, "talker"), nothing_said()), [] {});
    settle(session);
    reply_to(session, kFirst);
    reply_to(session, kSecond);
    const json before = numbers(session);
    session.save_view(folder.file("talk.headscope"));
    session.begin_conversation();
    settle(session);
    session.open_view(folder.file("talk.headscope"));
    settle(session);
    CHECK(numbers(session) == before);
    CHECK(errors_of(session).empty());
}

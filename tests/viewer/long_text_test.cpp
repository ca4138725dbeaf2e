// A text longer than the model translates well: one of its sentences is shown, and what is shown is said.
#include "tests/viewer/stage.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/session/text_notes.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

namespace {

constexpr const char* kLong = "The small dog sees the cat. The big cat sleeps. A dog sleeps on the mat.";

struct LongText {
    TemporaryFolder folder;
    Session session;
    LongText() : session(on_cpu(write(), sentence(kLong)), [] {}) { settle(session); }
    std::string write() const {
        const std::string path = write_model(folder, "tiny", 3);
        folder.write("tiny/decoding.json", R"({"split_longer_than": 20})");
        return path;
    }
    const Exploration& shown() const { return *session.scene().main.shown; }
};

}  // namespace

TEST_CASE("A long text is shown sentence by sentence", "[long_text]") {
    LongText text;
    const PartsOfText* parts = parts_of(text.session.state(), *text.session.scene().main.model);
    REQUIRE(parts != nullptr);
    REQUIRE(parts->sentences.size() == 3);
    CHECK(text.shown().source == "The small dog sees the cat.");
    CHECK_THAT(note_on_length(text.session.scene()), Contains("Sentence 1 of 3:") && Contains("up to 20"));

    text.session.state().word = 2;
    choose_sentence(text.session.state(), 2);
    settle(text.session);
    CHECK(text.shown().source == "A dog sleeps on the mat.");
    CHECK(text.session.state().word == -1);
    CHECK_THAT(note_on_length(text.session.scene()), Contains("Sentence 3 of 3:"));
    text.session.measure_importance();
    settle(text.session);
    CHECK(text.session.scene().importance->of.source == "A dog sleeps on the mat.");

    const SavedView saved{.state = text.session.state(), .model = "m"};
    CHECK(parse_view(to_json(saved), "f").state.sentence == 2);

    new_sentence(text.session.state(), "The cat sleeps.");
    settle(text.session);
    CHECK(text.session.state().sentence == 0);
    CHECK(text.shown().source == "The cat sleeps.");
    CHECK(note_on_length(text.session.scene()).empty());
}

TEST_CASE("Both sides of a comparison read the sentence that the main model chooses", "[long_text]") {
    LongText text;
    text.session.compare_with(write_model(text.folder, "whole", 3), "cpu");
    choose_sentence(text.session.state(), 1);
    settle(text.session);
    CHECK(text.shown().source == "The big cat sleeps.");
    REQUIRE(text.session.scene().other->shown != nullptr);
    CHECK(text.session.scene().other->shown->source == text.shown().source);
}

TEST_CASE("A sentence that is shown no longer stays within the text", "[long_text]") {
    LongText text;
    text.session.state().sentence = 7;
    settle(text.session);
    CHECK(text.shown().source == "A dog sleeps on the mat.");
}

TEST_CASE("A long text without an end of a sentence is named", "[long_text]") {
    LongText text;
    new_sentence(text.session.state(), "the small dog sees the big cat the small dog sees the big cat the small dog");
    settle(text.session);
    CHECK_THAT(note_on_length(text.session.scene()), Contains("no end of a sentence"));
}

TEST_CASE("Characters that the model does not know are named", "[long_text]") {
    LongText text;
    new_sentence(text.session.state(), "the \u4F60\u597D cat");
    settle(text.session);
    CHECK_THAT(note_on_unknown(text.session.scene()), Contains("\u4F60\u597D"));
    new_sentence(text.session.state(), "the cat");
    settle(text.session);
    CHECK(note_on_unknown(text.session.scene()).empty());
}

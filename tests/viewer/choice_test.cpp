// The head that the window chooses for a text, and the panel that ranks heads.
#include "tests/viewer/stage.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/parts.h"
#include "viewer/session/rows.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

namespace {

ViewState choosing(const std::string& text = kSentence) {
    ViewState state = sentence(text);
    state.chosen.emplace();
    return state;
}

struct ChoiceStage {
    TemporaryFolder folder;
    Session session{on_cpu(write_model(folder, "first", 3), choosing()), [] {}};
    ChoiceStage() { settle(session); }
    ViewState& state() { return session.state(); }
    const AttentionRecord& record() const { return session.scene().main.shown->record; }
    // What the rules find in the text shown.
    TellingHead wanted() { return *most_telling(record(), state().kind, row_options(session.scene())); }
    bool shows(const TellingHead& found) {
        return state().layer == found.site.layer + 1 && state().heads == std::vector<int>{found.head} &&
               state().word == static_cast<int>(found.query);
    }
    void type(const std::string& text) {
        new_sentence(state(), text);
        settle(session);
    }
};

}  // namespace

TEST_CASE("The window shows the head and word that say most, and names them", "[choice]") {
    ChoiceStage stage;
    const TellingHead found = stage.wanted();
    CHECK(stage.shows(found));
    PanelPictures pictures;
    const auto caption = [&] { return pictures.caption(stage.session.scene(), PanelId::Figure); };
    CHECK_THAT(caption(), Contains(fmt::format("Layer {}, head {}: \u201C{}\u201D looks at", found.site.layer + 1,
                                               found.head, found.from)));
    stage.state().heads.clear();
    CHECK_THAT(caption(), Contains("4 heads") && Contains("looks most at") && Contains("in head"));
    stage.state().direction = Direction::To;
    CHECK_THAT(caption(), Contains("is looked at most by"));
    stage.state().word = -1;
    CHECK(caption() == fmt::format("Layer {}, 4 heads", found.site.layer + 1));
    CHECK(pictures.caption(stage.session.scene(), PanelId::Matrix).empty());
}

TEST_CASE("A new text is searched again until a head is chosen by hand", "[choice]") {
    ChoiceStage stage;
    stage.type("the big cat sees the small dog");
    CHECK(stage.shows(stage.wanted()));
    stage.state().kind = AttentionKind::EncoderSelf;
    choose_kind(stage.state(), AttentionKind::Cross);
    settle(stage.session);
    CHECK(stage.state().kind == AttentionKind::Cross);
    CHECK(stage.shows(stage.wanted()));
    stage.state().layer = 1;
    stage.state().heads = {2, 3};
    stage.type("a cat sleeps on the mat");
    CHECK(stage.state().heads == std::vector<int>{2, 3});
    CHECK(stage.state().word == -1);
    CHECK_FALSE(follows_choice(stage.state()));
}

TEST_CASE("The choice is no step of undo", "[choice]") {
    ChoiceStage stage;
    const ViewState first = stage.state();
    stage.type("a cat sleeps on the mat");
    const ViewState second = stage.state();
    CHECK(second.chosen->text == "a cat sleeps on the mat");
    stage.session.undo();
    settle(stage.session);
    CHECK(stage.state() == first);
    stage.session.redo();
    settle(stage.session);
    CHECK(stage.state() == second);
}

TEST_CASE("A saved view keeps its word, though a head was found for its text", "[choice]") {
    ChoiceStage stage;
    const int word = stage.state().word == 0 ? 1 : 0;
    stage.state().word = word;
    const std::string file = stage.folder.file("kept.headscope");
    stage.session.save_view(file);
    stage.type("a cat sleeps on the mat");
    stage.session.open_view(file);
    settle(stage.session);
    CHECK(stage.state().text == kSentence);
    CHECK(stage.state().word == word);
}

TEST_CASE("Where no head says anything, a choice by hand counts too", "[choice]") {
    ChoiceStage stage;
    stage.type("cat");
    const bool found = most_telling(stage.record(), stage.state().kind, row_options(stage.session.scene())).has_value();
    stage.state().heads = {2, 3};
    stage.type("a cat sleeps on the mat");
    INFO("a head was found for one word: " << found);
    CHECK(stage.state().heads == std::vector<int>{2, 3});
}

TEST_CASE("A state that does not ask for it keeps its heads", "[choice]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "first", 3), sentence()), [] {});
    settle(session);
    CHECK(session.state() == sentence());
}

TEST_CASE("More than two heads without a choice of the user are an overview", "[choice]") {
    ViewState state;
    CHECK(shows_overview(state, 8));
    state.heads = {1, 2};
    CHECK_FALSE(shows_overview(state, 8));
    state.overview = true;
    CHECK(shows_overview(state, 8));
    state.heads.clear();
    state.overview = false;
    CHECK_FALSE(shows_overview(state, 8));
}

TEST_CASE("The Find panel ranks heads by rule and by two words", "[choice]") {
    ChoiceStage stage;
    stage.state().panel = PanelId::Find;
    stage.state().word = stage.state().key = -1;
    const auto numbers = [&] { return nlohmann::json::parse(panel_json(stage.session.scene(), PanelId::Find)); };
    for (const SentenceRuleLabels& labels : kSentenceRules) {
        stage.state().rule = labels.rule;
        const nlohmann::json found = numbers();
        CHECK(found.at("rule") == labels.name);
        for (std::size_t at = 1; at < found.at("heads").size(); ++at) {
            CHECK(found.at("heads")[at - 1].at("score") >= found.at("heads")[at].at("score"));
        }
    }
    stage.state().rule = SentenceRule::Link;
    stage.state().word = 2;
    stage.state().key = 1;
    const nlohmann::json heads = numbers().at("heads");
    REQUIRE(heads.size() == 8);  // of two layers
    CHECK(heads[0].at("score").get<double>() == Approx(heads[0].at("weight").get<double>()));
    CHECK(heads[0].at("query") == 2);
    CHECK(heads[0].at("key") == 1);
    // "Who looks here" keeps the chosen word as the key.
    stage.state().direction = Direction::To;
    stage.state().key = -1;
    for (const nlohmann::json& head : numbers().at("heads")) {
        CHECK(head.at("key") == 2);
    }
    stage.state().direction = Direction::From;
    stage.state().key = 1;
    CHECK_THAT(texts_of(draw_panel(stage.session.scene(), PanelId::Find, {})),
               Contains("By the weight from the first chosen word to the second."));
}

TEST_CASE("A line's tooltip has a bar for every visible head", "[choice]") {
    ChoiceStage stage;
    stage.state().heads.clear();
    stage.state().word = -1;
    PanelPictures pictures;
    pictures.of(stage.session.scene(), PanelId::Figure, {.tips = false});
    const Mark line{.role = Role::Attention, .head = 2, .query = 1, .key = 2};
    CHECK_THAT(pictures.tip(PanelId::Figure, line), Contains("\u2192") && !Contains("head"));
    const std::vector<HeadWeight> bars = pictures.bars(PanelId::Figure, line);
    REQUIRE(bars.size() == 4);
    CHECK(bars[0].weight >= bars[3].weight);
    stage.state().heads = {2};
    pictures.of(stage.session.scene(), PanelId::Figure, {.tips = false});
    CHECK_THAT(pictures.tip(PanelId::Figure, line), Contains("head 2: "));
    CHECK(pictures.bars(PanelId::Figure, line).empty());
}

TEST_CASE("All heads have tooltips in the window, with their statistics and strongest pair", "[choice]") {
    ChoiceStage stage;
    const Drawing drawing = draw_panel(stage.session.scene(), PanelId::Heads, {.tips = false});
    std::string tips;
    for (const Primitive& primitive : drawing.primitives) {
        tips += primitive.mark.role == Role::Frame ? primitive.mark.tip + "\n" : "";
    }
    CHECK_THAT(tips, Contains("layer 2, head 4: entropy ") && Contains("mean distance") && Contains("sharpness") &&
                         Contains("on the diagonal") && Contains("strongest: "));
    CHECK_THAT(texts_of(drawing), Contains("Entropy in bits."));
}

TEST_CASE("A finished decoding opens at its first long word", "[choice]") {
    ChoiceStage stage;
    Scene scene = stage.session.scene();
    auto written = std::make_shared<Exploration>(*scene.main.shown);
    written->record.target_out = {{"\u2581die", TokenKind::Piece},
                                  {"\u2581,", TokenKind::Piece},
                                  {"\u2581Katze", TokenKind::Piece},
                                  {"<EOS>", TokenKind::End}};
    written->steps.resize(4);
    scene.main.shown = written;
    scene.state.step = -1;
    CHECK(shown_step(scene) == 2);
    scene.state.step = 3;
    CHECK(shown_step(scene) == 3);
    written->finished = false;
    scene.state.step = -1;
    CHECK(shown_step(scene) == 3);
}

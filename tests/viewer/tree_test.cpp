// The tree that a parser wrote, and the attention of its symbols.
#include "tests/viewer/stage.h"

#include <set>

#include <nlohmann/json.hpp>

#include "tests/figures/layout_checks.h"
#include "tests/viewer/parser_model.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/parts.h"
#include "viewer/panels/render.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

namespace {

ViewState parsing(const std::string& symbols = kSymbols) {
    ViewState state = sentence(kParsed, PanelId::Tree);
    state.target = symbols;
    return state;
}

struct ParserStage {
    TemporaryFolder folder;
    Session session;
    explicit ParserStage(const std::string& symbols = kSymbols) : ParserStage(symbols, kSymbols) {}
    ParserStage(const std::string& symbols, const std::string& known)
        : session(on_cpu(write_parser(folder, known), parsing(symbols)), [] {}) {
        settle(session);
    }
    const Scene& scene() const { return session.scene(); }
    Drawing drawn() const { return draw_panel(scene(), PanelId::Tree, {}); }
    nlohmann::json numbers() const { return nlohmann::json::parse(panel_json(scene(), PanelId::Tree)); }
};

std::set<int> attended_from(const Drawing& drawing) {
    std::set<int> queries;
    for (const Primitive& primitive : drawing.primitives) {
        if (primitive.mark.role == Role::Attention) {
            queries.insert(primitive.mark.query);
        }
    }
    return queries;
}

}  // namespace

TEST_CASE("A parser's tree is drawn over the words of the treebank", "[tree]") {
    ParserStage stage;
    CHECK(stage.scene().main.shown->source == "The cat sleeps .");
    CHECK(stage.scene().main.answered->search.max_extra == 300);
    CHECK(stage.numbers().at("tree") == "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))");
    CHECK(stage.numbers().at("repaired") == false);
    CHECK_THAT(texts_of(stage.drawn()), Contains("sleeps") && Contains("VBZ"));
    test::check_layout(stage.drawn());
    CHECK(offered(stage.scene(), PanelId::Tree));
}

TEST_CASE("Each constituent has the step that opened it, each step its constituent", "[tree]") {
    ParserStage stage;
    const WrittenTree tree = written_tree(stage.scene());
    // (S (NP DT NN )NP (VP VBZ )VP . )S <EOS>
    CHECK(tree.steps == std::vector<int>{0, 1, 2, 3, 5, 6, 8});
    CHECK(tree.nodes == std::vector<int>{0, 1, 2, 3, 1, 4, 5, 4, 6, 0, -1});
    const auto box_of_noun_phrase = [&] { return test::all_of<Rect>(stage.drawn(), Role::Node).at(1).first.colour; };
    CHECK(box_of_noun_phrase() == kLightInk.surface);
    stage.session.state().step = 4;  // )NP
    CHECK(box_of_noun_phrase() == kLightInk.accent);
    CHECK(attended_from(stage.drawn()) == std::set<int>{4});
    stage.session.hover_step(5);
    CHECK(box_of_noun_phrase() == kLightInk.surface);
    CHECK(attended_from(stage.drawn()) == std::set<int>{5});
}

TEST_CASE("Of levels each word has its step, and each constituent its first word's", "[tree]") {
    const std::string levels = "DT)2(NP NN)-1(S VBZ(VP)0(S .)";
    ParserStage stage(levels, levels);
    CHECK(stage.numbers().at("tree") == "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))");
    const WrittenTree tree = written_tree(stage.scene());
    CHECK(tree.steps == std::vector<int>{0, 0, 0, 1, 2, 2, 3});
    CHECK(tree.nodes == std::vector<int>{2, 3, 5, 6, -1});
}

TEST_CASE("Pointing along a tree redraws it, and pointing away repeats no drawing", "[tree]") {
    ParserStage stage;
    PanelPictures pictures;
    const auto drawn = [&] { return pictures.of(stage.scene(), PanelId::Tree, {}).primitives.data(); };
    const auto* whole = drawn();
    stage.session.hover_step(1);
    CHECK(drawn() != whole);
    stage.session.hover_step(-1);
    CHECK(drawn() == whole);
}

TEST_CASE("A second text is split into words like the first", "[tree]") {
    ParserStage stage;
    stage.session.state().second = "The dog sleeps.";
    stage.session.compare_texts();
    settle(stage.session);
    CHECK(stage.scene().other->shown->source == "The dog sleeps .");
    CHECK(inside_request(stage.scene(), InsideView::Patching)->from == "The dog sleeps .");
}

TEST_CASE("A malformed tree is repaired, and its constituents have no steps", "[tree]") {
    ParserStage stage("(S (NP DT NN (VP VBZ )S");
    CHECK(stage.numbers().at("repaired") == true);
    CHECK(written_tree(stage.scene()).steps.empty());
    CHECK_THAT(texts_of(stage.drawn()), Contains("which was repaired"));
}

TEST_CASE("A model that translates has no tree", "[tree]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "first", 3), sentence()), [] {});
    settle(session);
    CHECK_FALSE(offered(session.scene(), PanelId::Tree));
    CHECK(session.scene().main.shown->source == kSentence);
    session.state().panel = PanelId::Tree;
    CHECK(offered(session.scene(), PanelId::Tree));
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Tree, {})), Contains("does not write trees"));
    CHECK_THAT(error_of([&] { panel_json(session.scene(), PanelId::Tree); }), Contains("does not write trees"));
    const SavedView view{.state = session.state(), .model = folder.file("first"), .device = "cpu"};
    CHECK_THAT(error_of([&] { render(view, Precision::F32, folder.file("x.svg"), 1.0, {}, {}, [](const auto&) {}); }),
               Contains("nothing to draw: This model does not write trees"));
}

// Saliency, the logit lens and patching in the window, for every family, and two texts side by side.
#include "tests/viewer/stage.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/figures/layout_checks.h"
#include "tests/viewer/language_model.h"
#include "viewer/panels/panel_drawing.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::string drawn_inside(Session& session, PanelId panel) {
    session.state().panel = panel;
    settle(session);
    const Drawing drawing = draw_panel(session.scene(), panel, {});
    test::check_layout(drawing);
    return drawing.title + "\n" + texts_of(drawing);
}

json inner_numbers(const Session& session, PanelId panel) {
    return json::parse(panel_json(session.scene(), panel));
}

// The three panels with what they say of a model and its text.
void check_inside(Session& session, const std::string& second) {
    settle(session);
    const std::size_t written = session.scene().main.shown->steps.size();
    const std::size_t counted = written - session.scene().main.shown->prompt;
    CHECK_THAT(drawn_inside(session, PanelId::Saliency), Contains("What each piece owes to what was read"));
    CHECK(inner_numbers(session, PanelId::Saliency).at("of_target").size() >= counted);
    CHECK_THAT(drawn_inside(session, PanelId::Lens), Contains("What the model would write after each layer"));
    const json lens = inner_numbers(session, PanelId::Lens);
    REQUIRE(lens.at("layers").size() == 3);  // the embedding and two layers
    CHECK_THAT(drawn_inside(session, PanelId::Patching), Contains("Type another text"));
    session.state().second = second;
    CHECK_THAT(drawn_inside(session, PanelId::Patching),
               Contains("What the output owes to each layer") && Contains("layer 2"));
    const json patching = inner_numbers(session, PanelId::Patching);
    CHECK(patching.at("effects").size() >= 4);
    CHECK(patching.at("effects").size() % 2 == 0);  // of each layer as many
    CHECK(errors_of(session).empty());
}

}  // namespace

TEST_CASE("The last layer of the lens writes what a translation model wrote", "[session][inside]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence("the small dog")), [] {});
    settle(session);
    drawn_inside(session, PanelId::Lens);
    const json lens = inner_numbers(session, PanelId::Lens);
    const json& last = lens.at("layers").back().at("positions");
    const Exploration& found = *session.scene().main.shown;
    REQUIRE(last.size() == found.steps.size());
    for (std::size_t i = 0; i < last.size(); ++i) {
        CHECK(last[i].at("rank") == found.steps[i].rank);
    }
    CHECK_THAT(drawn_inside(session, PanelId::Saliency), Contains("small") && Contains("Gradient times embedding"));
    CHECK(inner_numbers(session, PanelId::Saliency).at("of_source").size() == found.steps.size());
}

TEST_CASE("A language model is looked into as well", "[session][inside][family]") {
    const TemporaryFolder folder;
    Session causal(on_cpu(write_language_model(folder, "causal", Architecture::CausalLm), sentence("the small dog")),
                   [] {});
    check_inside(causal, "the big dog");
    Session masked(on_cpu(write_language_model(folder, "masked", Architecture::MaskedLm), sentence("the [MASK] dog")),
                   [] {});
    check_inside(masked, "the [MASK] cat");
}

TEST_CASE("Saliency, lens, patching and vectors are kept when another is chosen", "[session][inside]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence("the small dog", PanelId::Saliency)), [] {});
    session.state().second = "the big dog";
    for (const PanelId panel : {PanelId::Saliency, PanelId::Lens, PanelId::Patching, PanelId::Vectors}) {
        session.state().panel = panel;
        settle(session);
    }
    REQUIRE(std::ranges::all_of(session.scene().inside, [](const auto& found) { return found != nullptr; }));
    const auto before = session.scene().inside;
    for (const PanelId panel : {PanelId::Lens, PanelId::Patching, PanelId::Vectors, PanelId::Saliency}) {
        CHECK_THAT(drawn_inside(session, panel), !Contains("Computing"));
    }
    CHECK(session.scene().inside == before);
    session.state().text = "the small cat";
    settle(session);
    CHECK(session.scene().inside[index_of(InsideView::Lens)] == nullptr);
    CHECK_THAT(drawn_inside(session, PanelId::Lens), Contains("What the model would write"));
}

TEST_CASE("Words of two texts are points of one plane, after each layer", "[session][inside]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence("the small dog")), [] {});
    settle(session);
    CHECK_THAT(drawn_inside(session, PanelId::Vectors), Contains("Words after layer 2") && Contains("small"));
    const json alone = inner_numbers(session, PanelId::Vectors).at("vectors");
    CHECK(alone.size() == 3);
    session.state().layer = 1;
    CHECK_THAT(drawn_inside(session, PanelId::Vectors), Contains("Words after layer 1"));
    CHECK(inner_numbers(session, PanelId::Vectors).at("vectors") != alone);
    session.state().second = "the big cat sees";
    CHECK_THAT(drawn_inside(session, PanelId::Vectors), Contains("the other text") && Contains("cat"));
    const json both = inner_numbers(session, PanelId::Vectors);
    CHECK(both.at("vectors").size() == 7);
    CHECK(both.at("vectors").at(3).at("of") == 2);
    CHECK(both.at("shares").at(0) >= both.at("shares").at(1));
    session.state().join_words = false;
    CHECK_THAT(drawn_inside(session, PanelId::Vectors), Contains("Pieces after layer 1"));
    std::string many = "dog";
    for (int i = 0; i < 3000; ++i) {
        many += " dog";
    }
    session.state().second = many;
    CHECK_THAT(drawn_inside(session, PanelId::Vectors), Contains("the model takes at most"));
    CHECK(errors_of(session).empty());
}

TEST_CASE("Saliency is that of the edited model", "[session][inside]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence()), [] {});
    session.state().edits = {first_head_off()};
    settle(session);
    CHECK_THAT(drawn_inside(session, PanelId::Saliency), Contains("Gradient times embedding"));
    const json edited = json::parse(panel_json(session.scene(), PanelId::Saliency));
    session.state().edits.clear();
    settle(session);
    CHECK_THAT(drawn_inside(session, PanelId::Saliency), Contains("Gradient times embedding"));
    CHECK(json::parse(panel_json(session.scene(), PanelId::Saliency)) != edited);
    CHECK(errors_of(session).empty());
}

TEST_CASE("Two texts are compared, place by place if they have as many tokens", "[session][inside]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "tiny", 3);
    Session session(on_cpu(model, sentence("the small dog", PanelId::Compare)), [] {});
    session.state().second = "the big dog";
    session.compare_with(model, "cpu");
    settle(session);
    CHECK(session.scene().main.shown->source == "the small dog");
    CHECK(session.scene().other->shown->source == "the big dog");
    CHECK_THAT(drawn_inside(session, PanelId::Compare), Contains("the big dog"));
    const std::size_t here = session.scene().main.shown->record.source.size();
    const std::size_t there = session.scene().other->shown->record.source.size();
    const json compared = inner_numbers(session, PanelId::Compare);
    CHECK(compared.contains("left_minus_right") == (here == there));
    session.state().second = "the dog";
    settle(session);
    CHECK(inner_numbers(session, PanelId::Compare).contains("problem"));
    session.state().second.clear();
    settle(session);
    CHECK(session.scene().other->shown->source == "the small dog");
}

TEST_CASE("Two texts are compared by one model, which is loaded once", "[session][inside]") {
    const TemporaryFolder folder;
    std::atomic<int> opened{0};
    SessionOptions options = on_cpu(write_model(folder, "tiny", 3), sentence("the small dog", PanelId::Compare));
    options.open_device = [&](const std::string& id) {
        ++opened;
        return open_device(id);
    };
    Session session(options, [] {});
    const auto other = [&] { return session.scene().other->model->name; };
    const auto loaded_once = [&] {
        const Scene& scene = session.scene();
        return opened == 1 && scene.main.model->shared.lock() == scene.other->model->shared.lock();
    };
    settle(session);
    session.state().second = "the big dog";
    session.compare_texts();
    settle(session);
    CHECK(session.scene().other->shown->source == "the big dog");
    CHECK(loaded_once());
    session.save_view(folder.file("texts.headscope"));
    session.open(write_model(folder, "another", 4), "cpu");  // which reads both texts
    settle(session);
    CHECK(other() == "another");
    CHECK(session.scene().other->shown->source == "the big dog");
    CHECK(loaded_once());
    session.open(folder.file("nowhere"), "cpu");
    settle(session);
    CHECK(other() == "another");
    CHECK_THAT(errors_of(session), Contains("nowhere"));
    session.open_view(folder.file("texts.headscope"));
    settle(session);
    CHECK(other() == "tiny");
    CHECK(session.scene().other->shown->source == "the big dog");
    CHECK(loaded_once());
    session.state().second.clear();
    session.compare_with(folder.file("another"), "cpu");  // two models stay as they are
    settle(session);
    for (const char* name : {"another", "tiny"}) {
        session.open(folder.file(name), "cpu");
        settle(session);
        CHECK(other() == "another");
    }
    session.end_comparison();
    settle(session);
    CHECK(errors_of(session).empty());
}

TEST_CASE("A view of two texts whose model fails to open compares nothing", "[session][inside]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence("the small dog", PanelId::Compare)), [] {});
    settle(session);
    session.state().second = "the big dog";
    session.compare_texts();
    settle(session);
    session.save_view(folder.file("texts.headscope"));
    std::filesystem::remove(folder.file("tiny/model.safetensors"));
    session.open_view(folder.file("texts.headscope"));
    settle(session);
    CHECK_FALSE(session.scene().other.has_value());
    CHECK_THAT(errors_of(session), Contains("tiny"));
}

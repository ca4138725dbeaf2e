// The parts of panels, and their tooltips.
#include "tests/viewer/stage.h"

#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "backend/ops/search.h"
#include "tests/train/digits_run.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/parts.h"
#include "viewer/panels/render.h"
#include "viewer/session/rows.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

namespace {

std::set<int> items_of(const Drawing& drawing, Role role) {
    std::set<int> items;
    for (const Primitive& primitive : drawing.primitives) {
        if (primitive.mark.role == role) {
            items.insert(primitive.mark.item);
        }
    }
    return items;
}

struct PlainStage {
    TemporaryFolder folder;
    Session session{on_cpu(write_model(folder, "first", 3), sentence(kSentence, PanelId::Matrix)), [] {}};
    PlainStage() { settle(session); }
    Drawing drawn(PanelId panel, const PanelOptions& options = {}) const {
        return draw_panel(session.scene(), panel, options);
    }
};

}  // namespace

TEST_CASE("A mean is drawn next to an unchanged head", "[panels]") {
    PlainStage stage;
    CHECK(items_of(stage.drawn(PanelId::Matrix), Role::Frame) == std::set<int>{0});
    stage.session.state().heads = {3};
    const Scene& scene = stage.session.scene();
    for (const MatrixView view : {MatrixView::Rollout, MatrixView::HeadMean, MatrixView::LayerMean}) {
        stage.session.state().matrix = view;
        const Drawing both = stage.drawn(PanelId::Matrix);
        CHECK(items_of(both, Role::Frame) == std::set<int>{0, 1});
        CHECK_THAT(texts_of(both), Contains(matrix_record(scene, scene.main.shown->record).derived));
        const auto numbers = nlohmann::json::parse(panel_json(scene, PanelId::Matrix));
        CHECK(numbers.at("raw").at("heads").size() == 1);
        CHECK(numbers.at("raw").at("title") != numbers.at("title"));
        PanelPictures pictures;
        CHECK(pictures.tip(PanelId::Matrix, {Role::Cell, 3, 1, 2}).empty());  // no picture yet
        pictures.of(scene, PanelId::Matrix, {});
        const Mark raw{.role = Role::Cell, .head = 3, .query = 1, .key = 2, .item = 0};
        const int head = view == MatrixView::LayerMean ? 3 : 1;
        const Mark derived{.role = Role::Cell, .head = head, .query = 1, .key = 2, .item = 1};
        CHECK(pictures.tip(PanelId::Matrix, raw) == panel_tip(panel_contents(scene, PanelId::Matrix), raw));
        CHECK(pictures.tip(PanelId::Matrix, derived) == panel_tip(panel_contents(scene, PanelId::Matrix), derived));
        CHECK_FALSE(pictures.tip(PanelId::Matrix, raw).empty());
        const auto contents = panel_contents(scene, PanelId::Matrix);
        REQUIRE(contents.size() == 2);
        CHECK(pictures.tip(PanelId::Matrix, derived) == figure_tip(contents[1], derived));
        CHECK(pictures.tip(PanelId::Matrix, {.role = Role::Cell, .head = head, .query = 99, .key = 2}).empty());
    }
}

TEST_CASE("A tooltip belongs to the cached picture", "[panels]") {
    PlainStage stage;
    stage.session.state().join_words = false;
    PanelPictures pictures;
    const Mark mark{.role = Role::Cell, .head = 1, .query = 1, .key = 2, .item = 0};
    pictures.of(stage.session.scene(), PanelId::Matrix, {});
    const std::string before = pictures.tip(PanelId::Matrix, mark);
    stage.session.state().layer = 1;
    CHECK(pictures.tip(PanelId::Matrix, mark) == before);
    pictures.of(stage.session.scene(), PanelId::Matrix, {});
    CHECK(pictures.tip(PanelId::Matrix, mark) != before);
    CHECK(pictures.tip(PanelId::Matrix, mark) ==
          panel_tip(panel_contents(stage.session.scene(), PanelId::Matrix), mark));
}

TEST_CASE("The decoding shows the attention of each step", "[panels]") {
    PlainStage stage;
    const Exploration& shown = *stage.session.scene().main.shown;
    REQUIRE(shown.steps.size() > 2);
    for (const int step : {0, 1, -1}) {
        stage.session.state().step = step;
        const Drawing drawing = stage.drawn(PanelId::Time);
        std::set<int> queries;
        for (const Primitive& primitive : drawing.primitives) {
            if (primitive.mark.role == Role::Attention) {
                queries.insert(primitive.mark.query);
            }
        }
        CHECK(queries == std::set<int>{step < 0 ? shown_step(stage.session.scene()) : step});
        const auto contents = panel_contents(stage.session.scene(), PanelId::Time);
        REQUIRE(contents.size() == 1);
        CHECK(contents[0].queries.size() == shown.record.target_out.size());
        CHECK(contents[0].keys.size() == shown.record.source.size());
        CHECK(panel_tip(contents, {.role = Role::Cell, .item = 1}).empty());  // of the strip of steps
    }
    CHECK(stage.drawn(PanelId::Time, {.width = 4000.0}).height < stage.drawn(PanelId::Time, {.width = 400.0}).height);
}

TEST_CASE("Comparing a model with itself reports no difference, and an empty comparison works", "[panels]") {
    PlainStage stage;
    stage.session.compare_with(stage.session.model_path(), "cpu");
    settle(stage.session);
    CHECK_THAT(texts_of(stage.drawn(PanelId::Compare)), Contains("no difference") && !Contains("at most 0"));
    Scene scene = stage.session.scene();
    for (Side* side : {&scene.main, &*scene.other}) {
        auto bare = std::make_shared<Exploration>(*side->shown);
        std::erase_if(bare->record.sites, [](const SiteWeights& weights) {
            return weights.site == AttentionSite{AttentionKind::Cross, 0};
        });
        side->shown = bare;
    }
    scene.main.model->config.decoder_layers = 2;
    scene.state.kind = AttentionKind::Cross;
    scene.state.layer = 1;
    CHECK_FALSE(texts_of(draw_panel(scene, PanelId::Compare, {})).empty());
}

TEST_CASE("Headings are wrapped to the available width", "[panels]") {
    const std::string text = "a long translation of many words that no panel of this width could show in one line";
    const Drawing narrow = draw_heading(text, {.width = 300.0});
    CHECK(narrow.width <= 300.0);
    const Drawing wide = draw_heading(text, {.width = 3000.0});
    CHECK(wide.width > 300.0);
    CHECK(wide.height < narrow.height);
}

TEST_CASE("Rendering the training panel of a model is an error", "[panels]") {
    PlainStage stage;
    const SavedView view{
        .state = sentence(kSentence, PanelId::Training), .model = stage.session.model_path(), .device = "cpu"};
    const std::string file = stage.folder.file("a.svg");
    CHECK_THAT(error_of([&] { render(view, Precision::F32, file, 1.0, {}, {}, [](const std::string&) {}); }),
               Contains("not a training"));
    CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("A device that is lost while a panel is rendered is reopened and reported", "[panels]") {
    class LostBackend final : public ForwardingBackend {
    public:
        explicit LostBackend(bool& lost) : ForwardingBackend(open_device("cpu")), lost_(lost) {}
        using ForwardingBackend::run;
        void run(const LogSoftmaxTopK& op) override {
            if (!std::exchange(lost_, true)) {
                throw DeviceLost("the device hung");
            }
            ForwardingBackend::run(op);
        }

    private:
        bool& lost_;
    };
    const TemporaryFolder folder;
    const SavedView view{.state = sentence(), .model = write_model(folder, "tiny", 3), .device = "cpu"};
    bool lost = false;
    std::vector<std::string> warnings;
    render(
        view, Precision::F32, folder.file("a.svg"), 1.0,
        [&](const std::string&) { return std::make_unique<LostBackend>(lost); }, {},
        [&](const std::string& warning) { warnings.push_back(warning); });
    CHECK(warnings == std::vector<std::string>{"reopened cpu after a failure: the device hung"});
    CHECK(std::filesystem::exists(folder.file("a.svg")));
}

TEST_CASE("A training's stamp changes with its log and its checkpoints", "[panels]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "run");
    run.start().train();
    const ModelSource source = ModelSource::at(folder.file("run"));
    const auto before = source.run_stamp();
    CHECK(source.run_stamp() == before);
    CHECK(source.run() == source.run());
    std::ofstream(folder.file("run/log.jsonl"), std::ios::app) << "{\"kind\":\"train\",\"step\":99}\n";
    CHECK_FALSE(source.run_stamp() == before);
    const auto longer = source.run();
    CHECK(longer == source.run());  // with a loss that was not reported
    std::filesystem::remove(folder.file("run/log.jsonl"));
    CHECK(source.run_stamp().log.size == 0);
    CHECK_FALSE(source.run() == longer);
}

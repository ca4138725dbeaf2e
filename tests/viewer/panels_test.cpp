// Drawings and JSON of all panels, with sessions on tiny models.
#include "tests/viewer/stage.h"

#include <set>

#include <nlohmann/json.hpp>

#include "paint/svg.h"
#include "tests/figures/layout_checks.h"
#include "tests/train/digits_run.h"
#include "viewer/panels/export.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/session/rows.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

// Shows as much as possible: two models, an edit, two selected words, the importance of the heads.
struct Stage {
    TemporaryFolder folder;
    Session session;
    explicit Stage(bool everything = true)
        : session(on_cpu(write_model(folder, "first", 3), sentence(kSentence, PanelId::Matrix)), [] {}) {
        settle(session);
        if (everything) {
            session.compare_with(write_model(folder, "second", 4), "cpu");
            session.state().edits = {{.site = {AttentionKind::Cross, 1}, .head = 2}};
            session.state().word = 1;
            session.state().key = 3;
            settle(session);
            session.measure_importance();
            settle(session);
        }
    }
    const Scene& scene() const { return session.scene(); }
    json numbers(PanelId panel) const { return json::parse(panel_json(scene(), panel)); }
    std::string texts(PanelId panel) const { return texts_of(draw_panel(scene(), panel, {})); }
};

void check_panel(const Scene& scene, PanelId panel) {
    INFO(name_of(panel) << ", " << name_of(scene.state.kind));
    const Drawing light = draw_panel(scene, panel, {});
    test::check_layout(light);
    const Drawing dark = draw_panel(scene, panel, {.ink = kDarkInk});
    REQUIRE(dark.primitives.size() == light.primitives.size());
    CHECK(dark.width == light.width);
    CHECK(dark.height == light.height);
    CHECK(dark.primitives.front().colour == kDarkInk.paper);
    CHECK(light.primitives.front().colour == kLightInk.paper);
    test::check_layout(draw_panel(scene, panel, {.text_size = 9.0, .width = 300.0, .tips = false}));
}

}  // namespace

TEST_CASE("Every panel is drawn completely, in both inks, for every kind of attention", "[panels]") {
    Stage stage;
    for (const AttentionKind kind : {AttentionKind::EncoderSelf, AttentionKind::DecoderSelf, AttentionKind::Cross}) {
        stage.session.state().kind = kind;
        settle(stage.session);
        for (int panel = 0; panel < kPanels; ++panel) {
            check_panel(stage.scene(), static_cast<PanelId>(panel));
        }
    }
}

TEST_CASE("A panel without results says why", "[panels]") {
    Stage stage(false);
    CHECK_THAT(stage.texts(PanelId::Training), Contains("not a training"));
    CHECK_THAT(stage.texts(PanelId::Compare), Contains("to compare with"));
    CHECK_THAT(stage.texts(PanelId::Surgery), Contains("Measure head importance"));
    stage.session.state().target = "eine katze";
    settle(stage.session);
    CHECK_THAT(stage.texts(PanelId::Time), Contains("there is no beam"));
    Scene scene = stage.scene();
    scene.main.shown = nullptr;
    const auto says = [&](const char* what) {
        for (int panel = 0; panel < kPanels; ++panel) {
            if (const auto id = static_cast<PanelId>(panel);
                id != PanelId::Model && id != PanelId::Training && id != PanelId::Chat) {
                INFO(name_of(id));
                CHECK_THAT(texts_of(draw_panel(scene, id, {})), Contains(what));
                CHECK_THAT(error_of([&] { panel_json(scene, id); }), Contains("nothing to save"));
                check_panel(scene, id);
            }
        }
        CHECK_THAT(error_of([&] { panel_tsv(scene, PanelId::Matrix); }), Contains("nothing to save"));
    };
    says("Computing");
    scene.main.model.reset();
    says("Opening the model");
    CHECK_THAT(texts_of(draw_panel(scene, PanelId::Chat, {})), Contains("Opening the model"));
    CHECK_THAT(texts_of(draw_panel(scene, PanelId::Model, {})), Contains("Opening the model"));
    scene.main.problem = "No such model anywhere.";
    says("No such model anywhere.");
    CHECK_THAT(error_of([&] { panel_json(scene, PanelId::Model); }), Contains("No such model anywhere."));
    CHECK_THAT(error_of([&] { panel_json(scene, PanelId::Training); }), Contains("not a training"));
}

TEST_CASE("The training panel has a chart of each measure of the log", "[panels]") {
    Stage stage(false);
    Scene scene = stage.scene();
    TrainingRun run;
    for (std::int64_t step = 10; step <= 50; step += 10) {
        run.training.push_back({.step = step, .nll = 1.0 / static_cast<double>(step)});
    }
    scene.run = std::make_shared<const TrainingRun>(run);
    CHECK_THAT(texts_of(draw_panel(scene, PanelId::Training, {})), !Contains("Reward") && Contains("nats per token"));
    for (LossPoint& point : run.training) {
        point.measures = {{"reward", 0.5}, {"kl", 0.25}, {"distinct", 1.0}};
    }
    scene.run = std::make_shared<const TrainingRun>(run);
    const Drawing drawing = draw_panel(scene, PanelId::Training, {});
    CHECK_THAT(texts_of(drawing), Contains("Reward") && Contains("KL divergence") && Contains("Distinct responses"));
    check_panel(scene, PanelId::Training);
    CHECK(json::parse(panel_json(scene, PanelId::Training)).at("training")[0].at("kl") == 0.25);
    for (LossPoint& point : run.training) {
        point.measures = {{"accuracy", 0.5}, {"margin", 0.25}};
    }
    scene.run = std::make_shared<const TrainingRun>(run);
    CHECK_THAT(texts_of(draw_panel(scene, PanelId::Training, {})), Contains("Accuracy") && Contains("nats per prompt"));
}

TEST_CASE("Cross-attention waits for the first word", "[panels]") {
    Stage stage(false);
    Scene scene = stage.scene();
    auto early = std::make_shared<Exploration>(*scene.main.shown);
    std::erase_if(early->record.sites,
                  [](const SiteWeights& weights) { return weights.site.kind != AttentionKind::EncoderSelf; });
    scene.main.shown = early;
    scene.state.kind = AttentionKind::Cross;
    CHECK_THAT(texts_of(draw_panel(scene, PanelId::Figure, {})), Contains("appears with the first word"));
}

TEST_CASE("A picture is redrawn only if its contents change", "[panels]") {
    Stage stage(false);
    Scene scene = stage.scene();
    PanelPictures pictures;
    const auto primitives = [&](PanelId panel, const PanelOptions& options = {}) {
        return pictures.of(scene, panel, options).primitives.data();
    };
    const auto* before = primitives(PanelId::Matrix);
    CHECK(primitives(PanelId::Matrix) == before);
    scene.state.logarithmic = true;
    const auto colours = [&] {
        std::string all;
        for (const Primitive& primitive : pictures.of(scene, PanelId::Matrix, {}).primitives) {
            all += to_hex(primitive.colour);
        }
        return all;
    };
    const std::string logarithmic = colours();
    scene.state.logarithmic = false;
    CHECK(colours() != logarithmic);
    scene.main.problem = "It broke.";
    CHECK_THAT(texts_of(pictures.of(scene, PanelId::Matrix, {})), Contains("It broke."));
}

TEST_CASE("The heads are redrawn only if what they show changes", "[panels]") {
    Stage stage(false);
    Scene scene = stage.scene();
    PanelPictures pictures;
    PanelOptions options;
    const auto redraws = [&](const auto& change) {
        const_cast<Drawing&>(pictures.of(scene, PanelId::Heads, options)).title = "kept";
        change();
        return pictures.of(scene, PanelId::Heads, options).title != "kept";
    };
    ViewState& state = scene.state;
    CHECK_FALSE(redraws([&] { state.text += " and the dog"; }));
    CHECK_FALSE(redraws([&] { state.layer = 1; }));
    CHECK_FALSE(redraws([&] { state.word = 1; }));
    CHECK_FALSE(redraws([&] { state.panel = PanelId::Heads; }));
    CHECK_FALSE(redraws([&] { scene.hovered_word = 2; }));
    CHECK(redraws([&] { options.ink = kDarkInk; }));
    CHECK(redraws([&] { options.text_size = 15.0; }));
    CHECK(redraws([&] { options.width = 300.0; }));
    CHECK(redraws([&] { state.kind = AttentionKind::Cross; }));
    CHECK(redraws([&] { state.order = HeadOrder::Entropy; }));
    CHECK(redraws([&] { state.small_figures = true; }));
    CHECK(redraws([&] { state.palette = Palette::OkabeIto; }));
    CHECK(redraws([&] { state.join_words = false; }));
    CHECK(redraws([&] { state.show_special = false; }));
    CHECK(redraws([&] { scene.main.shown = std::make_shared<Exploration>(*scene.main.shown); }));
    CHECK(redraws([&] { ++scene.main.model->tag; }));
}

TEST_CASE("Typing and pointing away repeat no drawing of the figure", "[panels]") {
    Stage stage(false);
    Scene scene = stage.scene();
    PanelPictures pictures;
    const auto drawn = [&] { return pictures.of(scene, PanelId::Figure, {}).primitives.data(); };
    const auto* whole = drawn();
    scene.state.text += " and";
    CHECK(drawn() == whole);
    scene.hovered_word = 1;
    const auto* pointed = drawn();
    CHECK(pointed != whole);
    scene.hovered_word = -1;
    CHECK(drawn() == whole);
    scene.hovered_word = 2;
    drawn();
    CHECK_THAT(pictures.of(scene, PanelId::Figure, {}).description, Contains("from \"dog\""));
    scene.state.layer = 1;
    CHECK_THAT(pictures.of(scene, PanelId::Figure, {}).description, Contains("Layer1"));
    scene.hovered_word = -1;
    CHECK_THAT(pictures.of(scene, PanelId::Figure, {}).description, Contains("Layer1"));
}

TEST_CASE("A record that is no longer shown is freed, whatever panels have drawn it", "[panels]") {
    Stage stage(false);
    Scene scene = stage.scene();
    scene.main.original = nullptr;
    scene.main.shown = std::make_shared<Exploration>(*scene.main.shown);
    const std::weak_ptr<const Exploration> old = scene.main.shown;
    PanelPictures pictures;
    for (const PanelId panel : {PanelId::Figure, PanelId::Heads, PanelId::Matrix}) {
        pictures.of(scene, panel, {});
    }
    scene.main.shown = std::make_shared<Exploration>(*scene.main.shown);
    CHECK_FALSE(old.expired());
    pictures.of(scene, PanelId::Matrix, {});
    CHECK(old.expired());
}

TEST_CASE("The JSON of the figure and the matrix holds their weights", "[panels][json]") {
    Stage stage;
    const AttentionRecord& record = stage.scene().main.shown->record;
    const SiteWeights& weights = find_site(record, AttentionKind::EncoderSelf, 2);
    stage.session.state().join_words = false;
    for (const PanelId panel : {PanelId::Figure, PanelId::Matrix}) {
        const json numbers = stage.numbers(panel);
        REQUIRE(numbers.at("queries").size() == record.source.size());
        const json& heads = numbers.at("heads");
        REQUIRE(heads.size() == 4);
        CHECK(heads[2].at("weights")[1][3].get<float>() == weights.at(2, 1, 3));
    }
    stage.session.state().join_words = true;
    const json neuron = stage.numbers(PanelId::Matrix).at("neuron");
    const NeuronView& view = *stage.scene().neuron;
    CHECK(neuron.at("layer") == 2);
    CHECK(neuron.at("head") == 1);
    CHECK(neuron.at("q").size() == static_cast<std::size_t>(view.d_k));
    REQUIRE(neuron.at("keys").size() == static_cast<std::size_t>(view.keys));
    // Equation 1, recomputed from the file.
    const int query = neuron.at("query");
    double total = 0.0;
    std::vector<double> scores;
    for (const json& key : neuron.at("keys")) {
        double sum = 0.0;
        for (std::size_t i = 0; i < key.at("k").size(); ++i) {
            sum += neuron.at("q")[i].get<double>() * key.at("k")[i].get<double>();
        }
        CHECK(key.at("sum").get<double>() == Approx(sum).margin(1e-6));
        scores.push_back(std::exp(sum * neuron.at("scale").get<double>()));
        total += scores.back();
    }
    for (std::size_t key = 0; key < scores.size(); ++key) {
        CHECK(neuron.at("keys")[key].at("weight").get<double>() == Approx(scores[key] / total).margin(1e-5));
        CHECK(neuron.at("keys")[key].at("weight").get<float>() == weights.at(0, query, static_cast<std::int64_t>(key)));
    }
    const std::string table = panel_tsv(stage.scene(), PanelId::Matrix);
    CHECK(std::count(table.begin(), table.end(), '\n') ==
          static_cast<std::ptrdiff_t>(words_of(stage.scene(), Direction::From)) + 1);
    stage.session.state().word = -1;
    CHECK_FALSE(stage.numbers(PanelId::Matrix).contains("neuron"));
}

TEST_CASE("The JSON of the time panel holds the steps and the beam", "[panels][json]") {
    Stage stage(false);
    const Exploration& shown = *stage.scene().main.shown;
    const json numbers = stage.numbers(PanelId::Time);
    CHECK(numbers.at("translation") == shown.translation);
    CHECK(numbers.at("log_probability") == shown.log_probability);
    CHECK(numbers.at("given") == false);
    REQUIRE(numbers.at("steps").size() == shown.steps.size());
    REQUIRE(shown.steps.size() > 1);
    for (std::size_t at = 0; at < shown.steps.size(); ++at) {
        const json& step = numbers.at("steps")[at];
        CHECK(step.at("text") == shown.record.target_out[at].text);
        CHECK(step.at("rank") == shown.steps[at].rank);
        REQUIRE(step.at("candidates").size() == 10);
        CHECK(step.at("candidates")[9].at("text") == shown.steps[at].candidates[9].text);
        CHECK(step.at("candidates")[9].at("log_probability") == shown.steps[at].candidates[9].log_probability);
    }
    REQUIRE(numbers.at("beam").size() == shown.beam.size());
    std::set<std::string> fates;
    for (std::size_t at = 0; at < shown.beam.size(); ++at) {
        const json& node = numbers.at("beam")[at];
        CHECK(node.at("parent") == shown.beam[at].parent);
        CHECK(node.at("score") == shown.beam[at].score);
        CHECK(node.at("reason") == shown.beam[at].reason);
        CHECK((node.at("fate") == "open") == shown.beam[at].reason.empty());
        fates.insert(node.at("fate"));
    }
    CHECK(fates.size() > 1);
}

TEST_CASE("The JSON of the surgery panel holds both translations and every head's importance", "[panels][json]") {
    Stage stage;
    const Side& side = stage.scene().main;
    const json numbers = stage.numbers(PanelId::Surgery);
    REQUIRE(numbers.at("edits").size() == 1);
    CHECK(numbers.at("edits")[0] == json{{"kind", "cross"}, {"layer", 2}, {"head", 2}, {"edit", "off"}});
    CHECK(numbers.at("original").at("log_probability") == side.original->log_probability);
    CHECK(numbers.at("edited").at("log_probability") == side.shown->log_probability);
    CHECK(numbers.at("original").at("log_probability") != numbers.at("edited").at("log_probability"));
    const Importance& importance = *stage.scene().importance;
    REQUIRE(numbers.at("importance").at("heads").size() == importance.heads.size());
    CHECK(numbers.at("importance").at("heads")[5].at("loss") == importance.heads[5].loss);
    stage.session.state().edits = {
        {.site = {AttentionKind::EncoderSelf, 0}, .head = 1, .kind = EditKind::Pin, .query = 1, .key = 2}};
    settle(stage.session);
    const json pinned = stage.numbers(PanelId::Surgery);
    CHECK(pinned.at("edits")[0].at("query") == 1);
    CHECK(pinned.at("edits")[0].at("key") == 2);
    CHECK_FALSE(pinned.contains("importance"));
    stage.session.state().edits.clear();
    settle(stage.session);
    CHECK_FALSE(stage.numbers(PanelId::Surgery).contains("edited"));
}

TEST_CASE("The JSON of the comparison holds both sides and their difference", "[panels][json]") {
    Stage stage;
    const json numbers = stage.numbers(PanelId::Compare);
    CHECK(numbers.at("left").at("model").at("name") == "first");
    CHECK(numbers.at("right").at("model").at("name") == "second");
    const auto weight = [&](const json& part) { return part.at("heads")[0].at("weights")[1][2].get<double>(); };
    CHECK(
        weight(numbers.at("left_minus_right")) ==
        Approx(weight(numbers.at("left").at("attention")) - weight(numbers.at("right").at("attention"))).margin(1e-6));
    stage.session.state().kind = AttentionKind::Cross;  // of other words
    CHECK(stage.numbers(PanelId::Compare).contains("problem"));
    stage.session.end_comparison();
    CHECK_FALSE(stage.numbers(PanelId::Compare).contains("right"));
}

TEST_CASE("The JSON of the model panel holds the configuration and every block's parameters", "[panels][json]") {
    Stage stage(false);
    const json numbers = stage.numbers(PanelId::Model);
    const Opened& model = *stage.scene().main.model;
    CHECK(numbers.at("parameters") == model.parameters);
    CHECK(numbers.at("config") == to_json(model.config));
    std::int64_t sum = 0;
    for (const json& block : numbers.at("blocks")) {
        sum += block.at("parameters").get<std::int64_t>();
    }
    CHECK(sum == model.parameters);
    CHECK_FALSE(numbers.contains("weights"));
    stage.session.state().panel = PanelId::Model;
    stage.session.state().block = "decoder.layers.1.cross_attention.";
    settle(stage.session);
    const json chosen = stage.numbers(PanelId::Model);
    CHECK(chosen.at("block") == stage.scene().state.block);
    REQUIRE(chosen.at("weights").size() == stage.scene().weights->statistics.size());
    CHECK(chosen.at("weights")[0].at("mean") == stage.scene().weights->statistics.front().mean);
}

TEST_CASE("The training panel and its JSON hold the curve, the checkpoints and the heads", "[panels][json]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "run");
    run.start().train();
    Session session(on_cpu(folder.file("run"), sentence("1 7", PanelId::Training)), [] {});
    settle(session);
    check_panel(session.scene(), PanelId::Training);
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Training, {})), Contains("After step 24"));
    const json numbers = json::parse(panel_json(session.scene(), PanelId::Training));
    CHECK(numbers.at("checkpoints") == std::vector<int>{8, 16, 24});
    CHECK(numbers.at("open") == 24);
    REQUIRE_FALSE(numbers.at("training").empty());
    CHECK(numbers.at("training")[0].at("nll") == session.scene().run->training[0].nll);
    CHECK(numbers.at("validation").size() == session.scene().run->validation.size());
    CHECK(numbers.at("attention").at("heads").size() == 2);
    session.state().text = "";
    settle(session);
    CHECK_FALSE(json::parse(panel_json(session.scene(), PanelId::Training)).contains("attention"));
    check_panel(session.scene(), PanelId::Training);
}

TEST_CASE("The file extension chooses a panel's format", "[panels]") {
    Stage stage(false);
    const auto save = [&](PanelId panel, const std::string& name) {
        export_panel_to(stage.scene(), panel, stage.folder.file(name), 2.0);
        return read_all(stage.folder.file(name));
    };
    CHECK(save(PanelId::Figure, "a.svg") ==
          to_svg(draw_panel(stage.scene(), PanelId::Figure, {.text_size = 10.0, .width = 620.0})));
    CHECK(save(PanelId::Model, "a.png").substr(1, 3) == "PNG");
    CHECK(save(PanelId::Time, "a.json") == panel_json(stage.scene(), PanelId::Time));
    CHECK(save(PanelId::Matrix, "a.tsv") == panel_tsv(stage.scene(), PanelId::Matrix));
    CHECK_THAT(error_of([&] { save(PanelId::Time, "a.tsv"); }),
               Contains("should end in .svg, .png, .pdf, .html or .json, or .tsv for the matrix"));
    CHECK_THAT(error_of([&] { save(PanelId::Matrix, "svg"); }), Contains(".svg"));
    CHECK_THAT(error_of([&] { save(PanelId::Matrix, "a.bmp"); }), Contains("a.bmp"));
    CHECK_THAT(error_of([&] { save(PanelId::Figure, "missing/a.svg"); }), Contains("missing/a.svg"));
    CHECK_FALSE(std::filesystem::exists(stage.folder.file("a.bmp")));
}

// An experiment in the Training panel: its table, its trials, and what changes while they train.
#include "tests/viewer/stage.h"

#include <nlohmann/json.hpp>

#include "tests/figures/layout_checks.h"
#include "tests/train/experiment_folder.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/parts.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

struct ExperimentStage {
    TemporaryFolder folder;
    std::optional<Session> session;
    explicit ExperimentStage(PanelId panel = PanelId::Figure) {
        write_experiment(folder, write_model);
        session.emplace(on_cpu(folder.file("table3"), sentence(kSentence, panel)), [] {});
        settle(*session);
    }
    const Scene& scene() const { return session->scene(); }
    std::string texts() const { return texts_of(draw_panel(scene(), PanelId::Training, {})); }
    void open(const std::string& trial) {
        session->open(trial, "cpu");
        settle(*session);
    }
};

}  // namespace

TEST_CASE("An experiment's folder opens its table, its first trial and that one's curve", "[experiment]") {
    ExperimentStage stage;
    REQUIRE(errors_of(*stage.session).empty());
    CHECK(stage.scene().state.panel == PanelId::Training);
    REQUIRE(stage.scene().experiment != nullptr);
    CHECK(stage.scene().main.model->name == "base-s1");
    REQUIRE(stage.scene().run != nullptr);
    CHECK(stage.scene().run->training.at(0).nll == 4.0);
    CHECK_THAT(stage.texts(), Contains("8.00 \u00B1 0.50") && Contains("4.92") && Contains("Loss of base-s1") &&
                                  Contains("The model of this training"));
    test::check_layout(draw_panel(stage.scene(), PanelId::Training, {}));
    const json numbers = json::parse(panel_json(stage.scene(), PanelId::Training));
    CHECK(numbers.at("experiment")[0].at("ours").at("perplexity") == json({{"mean", 8.0}, {"deviation", 0.5}}));
    CHECK(numbers.at("experiment")[1].at("paper").at("bleu") == 24.9);
    CHECK(numbers.at("training")[1].at("nll") == 2.0);
}

TEST_CASE("Another panel that was asked for stays", "[experiment]") {
    const ExperimentStage stage(PanelId::Heads);
    CHECK(stage.scene().state.panel == PanelId::Heads);
    CHECK(stage.scene().experiment != nullptr);
}

TEST_CASE("A row opens the training of its first seed, then of the next", "[experiment]") {
    ExperimentStage stage;
    const auto folder_of = [&](const char* trial) { return stage.folder.file(std::string("table3/") + trial); };
    CHECK(trial_after(stage.scene(), 1) == folder_of("A1-s1"));
    CHECK(trial_after(stage.scene(), 0) == folder_of("base-s2"));
    CHECK(trial_after(stage.scene(), 2).empty());
    stage.open(trial_after(stage.scene(), 0));
    CHECK(stage.scene().main.model->name == "base-s2");
    CHECK(stage.scene().run->training.at(0).nll == 5.0);
    CHECK(stage.scene().experiment != nullptr);
    CHECK_THAT(stage.texts(), Contains("Loss of base-s2") && Contains("8.00 \u00B1 0.50"));
    CHECK(trial_after(stage.scene(), 0) == folder_of("base-s1"));
    stage.open(write_model(stage.folder, "other", 4));
    CHECK(stage.scene().experiment == nullptr);
    CHECK(stage.scene().run == nullptr);
}

TEST_CASE("The table follows its file while rows finish", "[experiment]") {
    ExperimentStage stage;
    json table = example_table();
    table["rows"][1]["ours"]["bleu"]["mean"] = 29.25;
    write_table(stage.folder.file("table3"), table);
    const auto bleu = [&] { return stage.scene().experiment->rows.at(1).ours->bleu.mean; };
    CHECK(bleu() == 28.5);
    CHECK(update_until(*stage.session, [&] { return bleu() == 29.25; }));
    std::filesystem::create_directory(stage.folder.file("table3/E-s1"));
    CHECK(update_until(*stage.session,
                       [&] { return stage.scene().experiment->rows.at(3).unfinished == std::vector<int>{1}; }));
    table["rows"][1]["ours"]["bleu"]["mean"] = "29";
    write_table(stage.folder.file("table3"), table);
    CHECK(update_until(*stage.session, [&] { return !errors_of(*stage.session).empty(); }));
    CHECK_THAT(errors_of(*stage.session), Contains("table.json") && Contains("rows[1].ours.bleu.mean"));
    CHECK(bleu() == 29.25);
}

TEST_CASE("A trial opens even if the table is damaged", "[experiment]") {
    ExperimentStage stage;
    std::ofstream(stage.folder.file("table3/table.json")) << "[]";
    stage.open(stage.folder.file("table3/A1-s1"));
    CHECK(errors_of(*stage.session).empty());
    CHECK(stage.scene().main.model->name == "A1-s1");
    CHECK(stage.scene().experiment == nullptr);
    REQUIRE_FALSE(stage.session->notices().empty());
    CHECK_THAT(stage.session->notices().back().text, Contains("table.json"));
    stage.open(stage.folder.file("table3"));
    CHECK_THAT(errors_of(*stage.session), Contains("table.json"));
}

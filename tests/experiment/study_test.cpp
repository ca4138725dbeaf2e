// A study of one's own is data: rows, columns and notes. And every study is reported in the same ways.
#include <filesystem>
#include <memory>

#include <catch2/catch.hpp>

#include "experiment/study.h"
#include "figures/experiment_drawing.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/io/temporary_folder.h"
#include "train/digits_task.h"
#include "train/experiment_reader.h"
#include "train/model_source.h"
#include "train/run_config.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

Study narrow_and_wide() {
    return {.name = "widths",
            .summary = "A narrow and a wide model",
            .footer = "",
            .options = row_options(),
            .title = "How wide?",
            .rows = {{"narrow", "Narrow", {{"model", {{"feed_forward.d_ff", 8}}}}},
                     {"wide", "Wide", {{"model", {{"feed_forward.d_ff", 32}}}}, {.bleu = 20.0}},
                     {"odd", "Odd", {{"model", {{"attention.heads", 3}, {"attention.d_k", 0}}}}}},
            .columns = {kBleuColumn,
                        {"hits", "hits", 2, [](const TrialResult& result) { return 100.0 * result.accuracy; }},
                        kMinutesColumn},
            .notes = "All have one layer.\n"};
}

StudyRequest tiny_request(const TemporaryFolder& folder) {
    std::string pairs;
    for (const DigitsPair& pair : make_digits_task(100, 1)) {
        pairs += pair.digits + "\t" + pair.words + "\n";
    }
    folder.write("train.tsv", pairs);
    folder.write("valid.tsv", pairs.substr(0, pairs.find('\n', 300) + 1));
    return {.values = {{"rows", {"narrow", "odd"}}, {"seeds", 2}},
            .base = RunConfig::with_data(nlohmann::json::parse(R"({
            "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 16, "d_ff": 16, "heads": 2},
            "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
            "tokenizer": {"type": "bpe", "vocabulary": 72, "shared": true},
            "training": {"steps": 4, "source_tokens": 256, "target_tokens": 512, "warmup_steps": 10, "max_length": 64,
                         "checkpoint_every": 5, "checkpoint_minutes": 0, "validate_every": 0}
        })"),
                                         folder.file(""))};
}

}  // namespace

TEST_CASE("a study of one's own is trained, told and shown", "[study]") {
    const TemporaryFolder folder;
    const Study study = narrow_and_wide();
    const StudyRequest request = tiny_request(folder);
    const auto trainings = begin_trainings(study, request);
    CAPTURE(trainings->remarks());
    REQUIRE(trainings->trials().size() == 2);
    CHECK(trainings->trials()[1].name == "narrow-s2");
    CHECK(trainings->trials()[1].config["training"]["seed"] == 2);
    REQUIRE(trainings->remarks().size() == 1);
    CHECK_THAT(trainings->remarks()[0], Contains("odd is impossible with this base: ") && Contains("attention"));

    const std::string out = folder.file("out");
    const Experiment experiment(study.name, request.base,
                                {.folder = out, .devices = {"cpu"}, .open = [](const std::string& device) {
                                     return open_device(device, environment_options());
                                 }});
    experiment.run(trainings->trials(), [](std::size_t, const TrialOutcome& outcome) { CHECK(outcome.result); });
    const StudyReport report = trainings->report(experiment, {{1, "no disk"}});
    CHECK(report.tables[0].head == std::vector<std::string>{"model", "BLEU", "paper", "hits", "minutes"});
    REQUIRE(report.tables[0].rows.size() == 2);  // and none for Odd, of which there is no number
    CHECK_THAT(report.tables[0].rows[0][1], Contains(" ± "));
    CHECK(report.tables[0].rows[1] == std::vector<std::string>{"Wide", "-", "20.0", "-", "-"});
    CHECK_THAT(report.plain(), Contains("\n\nAll have one layer.\nnarrow: failed: seed 2: no disk\nodd: impossible"));
    CHECK(report.json["rows"][0]["ours"]["hits"]["mean"].get<double>() ==
          Approx(50.0 * (report.json["rows"][0]["ours"]["trials"][0]["accuracy"].get<double>() +
                         report.json["rows"][0]["ours"]["trials"][1]["accuracy"].get<double>())));

    report.write(out);
    for (const char* name : {"table.json", "table.csv", "table.md", "table.svg", "table.png"}) {
        CHECK(std::filesystem::exists(out + "/" + name));
    }
    CHECK_THAT(read_all(out + "/table.csv"), Contains("ours/hits/mean") && Contains("Narrow"));
    const ExperimentTable table = read_experiment_table(out);
    CHECK(table.title == "How wide?");
    CHECK(table.rows[0].seeds == std::vector<int>{1, 2});
    CHECK(table.rows[1].paper.bleu == 20.0);
    CHECK(ModelSource::at(out + "/narrow-s2").experiment()->rows.size() == 3);
}

TEST_CASE("a row of a study is unknown before anything is trained", "[study]") {
    const TemporaryFolder folder;
    StudyRequest request = tiny_request(folder);
    request.values["rows"] = {"tall"};
    const Study study = narrow_and_wide();
    CHECK_THROWS_WITH(begin_trainings(study, request), "there is no row \"tall\"; there are narrow, wide, odd");
}

TEST_CASE("a report is written as CSV without its lists, and tables after the first only with rows", "[study]") {
    const TemporaryFolder folder;
    const StudyReport report{
        .json = {{"rows", {{{"a", 1}, {"b", {{"c", "x, \"y\""}, {"list", {1, 2}}}}}, {{"a", nullptr}, {"d", 0.5}}}}},
        .tables = {{.head = {"a"}, .rows = {}}, {.head = {"b"}, .rows = {}}},
        .notes = "n\n"};
    report.write(folder.file("out"));
    CHECK(read_all(folder.file("out/table.csv")) == "a,b/c,d\n1,\"x, \"\"y\"\"\",\n,,0.5\n");
    CHECK(report.plain() == "a\n---\n\nn\n");
}

TEST_CASE("every study has its section in the documents", "[study]") {
    const std::string text = read_all(std::string(HEADSCOPE_SOURCE_DIR) + "/docs/experiments.md");
    for (const Study& study : studies()) {
        INFO(study.name);
        CHECK_THAT(text, Contains(std::string("headscope experiment ") + study.name + " "));
        const bool drawn = study.measure == nullptr && study.begin == nullptr;
        CHECK(drawn != std::string(study.title).empty());
    }
}

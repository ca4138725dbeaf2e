// Reads the table of an experiment, and opens its trials.
#include <catch2/catch.hpp>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/io/temporary_folder.h"
#include "tests/train/experiment_folder.h"
#include "train/experiment_reader.h"
#include "train/model_source.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

TEST_CASE("The table of an experiment, and the trials begun since", "[experiment]") {
    const TemporaryFolder folder;
    write_table(folder.file("table3"), example_table());
    for (const char* trial : {"A1-s3", "A1-s2", "A1-sx", "E-s12", "tokenizer"}) {
        std::filesystem::create_directory(folder.file("table3/") + trial);
    }
    const ExperimentTable table = read_experiment_table(folder.file("table3"));
    CHECK(table.folder == folder.file("table3"));
    CHECK(table.title == "Table 3: variations of the model");  // which earlier versions did not write
    REQUIRE(table.rows.size() == 4);
    const ExperimentRow& base = table.rows[0];
    CHECK(base.name == "base");
    REQUIRE(base.ours);
    CHECK(base.ours->perplexity == SeedSpread{8.0, 0.5, {7.5, 8.5}});
    CHECK(base.ours->bleu == SeedSpread{30.0, 1.0, {31.0, 29.0}});
    CHECK(base.ours->parameters == 2151936.0);
    CHECK(base.ours->minutes == 19.0);
    CHECK(base.seeds == std::vector<int>{1, 2});
    CHECK(base.paper == ExperimentRow::Reported{4.92, 25.8, 65e6});
    const ExperimentRow& a1 = table.rows[1];
    CHECK(a1.varied == "h 1, d_k 128, d_v 128");
    REQUIRE(a1.ours);
    CHECK_FALSE(a1.ours->perplexity.deviation);
    CHECK(a1.unfinished == std::vector<int>{2, 3});
    CHECK_FALSE(a1.paper.parameters);
    CHECK(table.rows[2].impossible == "d_k is 0.5");
    CHECK_FALSE(table.rows[3].ours);
    CHECK(table.rows[3].problems == std::vector<std::string>{"seed 1: no disk"});
    CHECK(table.rows[3].unfinished == std::vector<int>{12});
}

TEST_CASE("The table of any study with a title, also without seeds", "[experiment]") {
    const TemporaryFolder folder;
    json table = example_table();
    table["experiment"] = "widths";
    table["title"] = "How wide?";
    table["rows"][1]["ours"]["trials"][0]["seed"] = 0;
    write_table(folder.file("widths"), table);
    folder.write("widths/experiment.json", R"({"experiment": "widths"})");
    for (const char* trial : {"A1", "E", "base-s1/model"}) {
        std::filesystem::create_directories(folder.file("widths/") + trial);
    }
    folder.write("widths/base-s1/model/config.json", "{}");
    folder.write("widths/base-s1/log.jsonl", "");
    const ExperimentTable read = read_experiment_table(folder.file("widths"));
    CHECK(read.title == "How wide?");
    CHECK(read.rows[1].seeds == std::vector<int>{0});
    CHECK(read.rows[1].unfinished.empty());
    CHECK(read.rows[3].unfinished == std::vector<int>{0});
    CHECK(trial_name("E", 0) == "E");
    const ModelSource source = ModelSource::at(folder.file("widths/base-s1"));
    REQUIRE(source.experiment());
    CHECK(source.experiment()->title == "How wide?");
}

TEST_CASE("A damaged table's error names the file and the key", "[experiment]") {
    const TemporaryFolder folder;
    const auto problem = [&](const char* place, const json& value) {
        json table = example_table();
        if (value.is_discarded()) {
            json& parent = table[json::json_pointer(place).parent_pointer()];
            parent.erase(json::json_pointer(place).back());
        } else {
            table[json::json_pointer(place)] = value;
        }
        write_table(folder.file("table3"), table);
        return error_of([&] { ModelSource::at(folder.file("table3")); });
    };
    const json gone(json::value_t::discarded);
    const std::string file = folder.file("table3/table.json");
    CHECK_THAT(problem("/experiment", "sweep"),
               Contains(file) && Contains("\"experiment\" is \"sweep\"") && Contains("expected \"table3\""));
    CHECK_THAT(problem("/experiment", gone), Contains(file) && Contains("\"experiment\""));
    CHECK_THAT(problem("/rows", 3), Contains(file) && Contains("\"rows\" must be a list"));
    CHECK_THAT(problem("/rows", json::array()), Contains("\"rows\" has no rows"));
    CHECK_THAT(problem("/rows/1", "A1"), Contains(file) && Contains("\"rows[1]\" must be an object"));
    CHECK_THAT(problem("/rows/1/row", gone), Contains("\"rows[1].row\" is missing"));
    CHECK_THAT(problem("/rows/1/paper", gone), Contains("\"rows[1].paper\" is missing"));
    CHECK_THAT(problem("/rows/1/paper/bleu", "25"), Contains("\"rows[1].paper.bleu\" must be a number"));
    CHECK_THAT(problem("/rows/0/ours/perplexity/mean", gone),
               Contains(file) && Contains("\"rows[0].ours.perplexity.mean\" is missing"));
    CHECK_THAT(problem("/rows/0/ours/bleu/deviation", -1), Contains("\"rows[0].ours.bleu.deviation\" must be"));
    CHECK_THAT(problem("/rows/0/ours/trials/1/seed", "two"), Contains("\"rows[0].ours.trials[1].seed\" must be"));
    CHECK_THAT(problem("/rows/0/ours/trials", json::array()), Contains("\"rows[0].ours.trials\" has no trials"));
    std::ofstream(file) << R"({"experiment": "table3", )";
    CHECK_THAT(error_of([&] { ModelSource::at(folder.file("table3")); }), Contains(file));
}

TEST_CASE("An experiment's folder opens its first trial with a model", "[experiment]") {
    const TemporaryFolder folder;
    write_table(folder.file("table3"), example_table());
    CHECK_THAT(error_of([&] { ModelSource::at(folder.file("table3")); }),
               Contains(folder.file("table3")) && Contains("no trial") && Contains("open it again later"));
    const auto make = [&](const std::string& trial) {
        std::filesystem::create_directories(folder.file("table3/" + trial + "/model"));
        folder.write("table3/" + trial + "/model/config.json", "{}");
        folder.write("table3/" + trial + "/log.jsonl", R"({"kind": "train", "step": 10, "nll": 2.5})"
                                                       "\n");
    };
    make("E-s1");
    CHECK(ModelSource::at(folder.file("table3")).folder() == folder.file("table3/E-s1"));
    make("base-s2");
    const ModelSource source = ModelSource::at(folder.file("table3"));
    CHECK(source.path() == folder.file("table3/base-s2/model"));
    CHECK(source.folder() == folder.file("table3/base-s2"));
    REQUIRE(source.has_run());
    CHECK(source.run().checkpoints.empty());
    REQUIRE(source.run().training.size() == 1);
    CHECK(source.run().training[0].nll == 2.5);
    REQUIRE(source.experiment());
    CHECK(source.experiment()->rows.size() == 4);

    const ModelSource::RunStamp before = source.run_stamp();
    CHECK(source.run_stamp() == before);
    json table = example_table();
    table["rows"].erase(3);
    write_table(folder.file("table3"), table);
    CHECK_FALSE(source.run_stamp() == before);
    CHECK(source.experiment()->rows.size() == 3);
}

TEST_CASE("A training beside another program's table.json is no trial", "[experiment]") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("runs/one/checkpoints"));
    folder.write("runs/table.json", "[1, 2]");
    const ModelSource source = ModelSource::at(folder.file("runs/one"));
    CHECK(source.has_run());
    CHECK_FALSE(source.experiment());
    CHECK_FALSE(ModelSource::at(folder.file("runs/one/")).experiment());
    folder.write("runs/table.json", R"({"experiment": "sweep", "rows": []})");
    folder.write("runs/experiment.json", R"({"experiment": "sweep"})");
    CHECK_FALSE(ModelSource::at(folder.file("runs/one")).experiment());
}

TEST_CASE("A trial whose checkpoints were removed with its end keeps its losses", "[experiment]") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    std::filesystem::create_directories(run + "/checkpoints");
    const ModelSource source = ModelSource::at(run);
    CHECK(source.kind() == ModelSource::Kind::Training);
    std::filesystem::remove_all(run + "/checkpoints");
    CHECK_THAT(error_of([&] { source.run(); }), Contains("is gone"));
    std::filesystem::create_directories(run + "/model");
    folder.write("run/model/config.json", "{}");
    CHECK(source.run().checkpoints.empty());
}

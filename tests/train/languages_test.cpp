// Training a model whose texts have other tokens around them.
#include <nlohmann/json.hpp>

#include "io/whole_file.h"
#include "support/check.h"
#include "tests/infer/translate_text.h"
#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

TEST_CASE("A model of several languages is trained on pairs of one", "[train]") {
    const TemporaryFolder folder;
    json settings = write_digits(folder);
    settings["model"]["source_begin"] = {5};
    settings["model"]["source_end"] = json::array();
    settings["model"]["target_begin"] = {"target_language"};
    settings["model"]["languages"] = {{"eng", 6}, {"deu", 7}};
    settings["model"]["bos_id"] = 2;
    settings["training"]["validate_bleu"] = 3;
    CHECK_THROWS_WITH(DigitsRun(folder, settings, "none").start(), Contains("needs a target language"));
    settings["data"]["target_language"] = "deu";
    DigitsRun run(folder, settings, "out");
    run.start().train();
    run.training->write_model(run.output_folder + "/model");
    const std::string file = run.output_folder + "/model/decoding.json";
    CHECK(json::parse(read_whole_file(file, file)).at("target_language") == "deu");
    const LoadedModel translator(*run.backend, run.output_folder + "/model");
    const TextResult found = translate_line(translator, "4 7", {.search = translator.search_options({.max_extra = 4})});
    CHECK(found.source_ids.front() == 5);
    CHECK(found.source_ids.back() != 2);
    CHECK(found.target_ids.front() == 7);
    // Only what follows the given tokens is learned, as always: resuming gives the same weights.
    CHECK(stopped_and_finished(folder, settings, "again", 9)->weights() == run.weights());
}

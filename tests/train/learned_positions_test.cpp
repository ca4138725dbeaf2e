// Training a model whose learned positions end where padding to a multiple would not.
#include <nlohmann/json.hpp>

#include "tests/train/digits_run.h"

using namespace headscope;

TEST_CASE("learned positions of a length that is no multiple train on pairs that fill them", "[trainer]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["model"]["positions"] = "learned";
    settings["model"]["max_length"] = settings["training"]["max_length"] = 29;
    settings["training"]["length_multiple"] = GENERATE(2, 8);
    settings["training"]["micro_batch_tokens"] = GENERATE(0, 256);
    DigitsRun run(folder, settings, "out");
    CHECK(run.start().train() == RunEnd::Finished);
    CHECK(logged(run.output_folder, "validation").size() == 3);
}

// Training a model with fewer learned positions than padding to a multiple would need.
#include <nlohmann/json.hpp>

#include "tests/train/digits_run.h"

using namespace headscope;

TEST_CASE("learned positions of any number train on pairs that use all of them", "[trainer]") {
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

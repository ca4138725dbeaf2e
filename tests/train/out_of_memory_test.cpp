// Steps that do not fit in a device's memory.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/train/digits_run.h"
#include "tests/train/limited_backend.h"
#include "train/step_options.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

struct LimitedRun {
    LimitedRun(const TemporaryFolder& folder, const nlohmann::json& settings, const std::string& output)
        : run(folder, settings, output, "cpu:oracle") {
        auto made = std::make_unique<LimitedBackend>(std::move(run.backend));
        backend = made.get();
        run.backend = std::move(made);
    }
    DigitsRun run;
    LimitedBackend* backend;
};

// Memory for the model alone, and with a whole step.
struct Need {
    std::size_t model = 0, whole_step = 0;
};

Need need_of(const TemporaryFolder& folder, nlohmann::json settings) {
    settings["training"]["steps"] = 2;
    LimitedRun measured(folder, settings, "measured");
    measured.run.start();
    Need need;
    need.model = measured.backend->memory().live;
    measured.run.training->train();
    need.whole_step = measured.backend->memory().peak;
    return need;
}

nlohmann::json without_validation(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    settings["data"].erase("valid");
    settings["training"]["steps"] = 12;
    settings["training"]["checkpoint_every"] = 6;
    return settings;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
    double most = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        most = std::max(most, std::abs(a[i] - b[i]));
    }
    return most;
}

}  // namespace

TEST_CASE("a step that does not fit in memory is halved, with the same result", "[trainer][memory]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = without_validation(folder);
    const Need need = need_of(folder, settings);
    LimitedRun free_run(folder, settings, "free");
    free_run.run.start().train();
    CHECK_THAT(free_run.run.said, !Contains("padded tokens"));

    LimitedRun limited(folder, settings, "limited");
    limited.run.start();
    limited.backend->limit = need.model + (need.whole_step - need.model) * 6 / 10;
    CHECK(limited.run.training->train() == RunEnd::Finished);
    CHECK_THAT(limited.run.said, Contains("out of memory") && Contains("steps run in parts of 512 padded tokens"));
    CHECK(difference(limited.run.weights(), free_run.run.weights()) < 1e-9);
    const auto reports = logged(limited.run.output_folder, "train");
    const auto expected = logged(free_run.run.output_folder, "train");
    REQUIRE(reports.size() == expected.size());
    CHECK(reports.back()["nll"].get<double>() == Approx(expected.back()["nll"].get<double>()).epsilon(1e-9));
    CHECK(reports.back()["target_tokens"] == expected.back()["target_tokens"]);
}

TEST_CASE("parts of a step are not counted twice if a later part fails", "[trainer][memory]") {
    const TemporaryFolder folder;
    nlohmann::json settings = without_validation(folder);
    settings["training"]["steps"] = 1;
    settings["training"]["report_every"] = 1;
    settings["training"]["micro_batch_tokens"] = 512;
    LimitedRun free_run(folder, settings, "free");
    free_run.run.start();
    const std::int64_t before = free_run.backend->asked;
    free_run.run.training->train();
    const std::int64_t of_the_step = free_run.backend->asked - before;

    LimitedRun limited(folder, settings, "limited");
    limited.run.start();
    limited.backend->refuses = limited.backend->asked + of_the_step * 3 / 4;  // in the second of its parts
    limited.run.training->train();
    CHECK_THAT(limited.run.said, Contains("steps run in parts of 256 padded tokens"));
    CHECK(difference(limited.run.weights(), free_run.run.weights()) < 1e-9);
    for (const char* key : {"nll", "loss", "gradient_norm"}) {
        CHECK(logged(limited.run.output_folder, "train").back()[key].get<double>() ==
              Approx(logged(free_run.run.output_folder, "train").back()[key].get<double>()).epsilon(1e-9));
    }
}

TEST_CASE("a repeated step moves the running averages of batch norms once", "[trainer][memory]") {
    const TemporaryFolder folder;
    nlohmann::json settings = without_validation(folder);
    settings["model"]["norm_type"] = "batch";
    settings["training"]["steps"] = 1;
    settings["training"]["micro_batch_tokens"] = 256;
    LimitedRun small_parts(folder, settings, "small-parts");
    small_parts.run.start().train();
    CHECK_THAT(small_parts.run.said, !Contains("batch norm"));

    settings["training"]["micro_batch_tokens"] = 512;
    LimitedRun free_run(folder, settings, "free");
    free_run.run.start();
    const std::int64_t before = free_run.backend->asked;
    free_run.run.training->train();
    const std::int64_t of_the_step = free_run.backend->asked - before;
    LimitedRun limited(folder, settings, "limited");
    limited.run.start();
    limited.backend->refuses = limited.backend->asked + of_the_step * 3 / 4;  // in the second of its parts
    limited.run.training->train();
    CHECK_THAT(limited.run.said, Contains("steps run in parts of 256 padded tokens; a batch norm measures each part"));
    CHECK(limited.run.weights() == small_parts.run.weights());  // with the averages
    CHECK(difference(limited.run.weights(), free_run.run.weights()) > 1e-9);
}

TEST_CASE("the warning names what depends on the parts of a step", "[trainer][memory]") {
    ModelConfig model;
    TrainingOptions training;
    CHECK(parts_matter(model, training).empty());
    model.feed_forward.experts.count = 4;
    CHECK_THAT(parts_matter(model, training), Contains("expert_balance") && !Contains("feed_forward.experts.capacity"));
    model.feed_forward.experts.capacity = 1.25F;
    training.expert_balance = 0.0;
    CHECK_THAT(parts_matter(model, training), !Contains("expert_balance") && Contains("feed_forward.experts.capacity"));
    model.norm.type = NormType::Batch;
    CHECK_THAT(parts_matter(model, training), Contains("batch norm"));
}

TEST_CASE("a step is not repeated if its results cannot be read", "[trainer][memory]") {
    const TemporaryFolder folder;
    nlohmann::json settings = without_validation(folder);
    settings["training"]["report_every"] = 1;
    LimitedRun limited(folder, settings, "limited");
    limited.run.start();
    limited.backend->reads = false;
    CHECK_THROWS_AS(limited.run.training->train(), OutOfMemory);
    CHECK_THAT(limited.run.said, !Contains("padded tokens"));
}

TEST_CASE("the reduced size of parts is kept across a stop, so resuming is bit for bit", "[trainer][memory]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = without_validation(folder);
    const Need need = need_of(folder, settings);
    const std::size_t limit = need.model + (need.whole_step - need.model) * 6 / 10;
    LimitedRun unbroken(folder, settings, "unbroken");
    unbroken.run.start();
    unbroken.backend->limit = limit;
    unbroken.run.training->train();
    {
        LimitedRun first(folder, settings, "broken");
        first.run.hooks.stop_requested = stop_after(6);
        first.run.start();
        first.backend->limit = limit;
        CHECK(first.run.training->train() == RunEnd::Stopped);
    }
    LimitedRun second(folder, settings, "broken");  // without a limit of memory
    second.run.start(true).train();
    CHECK_THAT(second.run.said, !Contains("out of memory"));
    CHECK(second.run.weights() == unbroken.run.weights());
}

TEST_CASE("a run ends with the reason if one sentence does not fit or parts may not shrink", "[trainer][memory]") {
    const TemporaryFolder folder;
    nlohmann::json settings = without_validation(folder);
    const Need need = need_of(folder, settings);
    LimitedRun hopeless(folder, settings, "hopeless");
    hopeless.run.start();
    hopeless.backend->limit = need.model + (need.whole_step - need.model) / 1000;
    CHECK_THROWS_AS(hopeless.run.training->train(), OutOfMemory);

    settings["training"]["split_when_out_of_memory"] = false;
    LimitedRun forbidden(folder, settings, "forbidden");
    forbidden.run.start();
    forbidden.backend->limit = need.model + (need.whole_step - need.model) * 6 / 10;
    CHECK_THROWS_AS(forbidden.run.training->train(), OutOfMemory);
    CHECK_THAT(forbidden.run.said, !Contains("padded tokens"));
}

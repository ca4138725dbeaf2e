#include "engine/engine.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "crew.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/infer/tiny_model.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;

namespace {

using Catch::Matchers::Contains;

struct ModelFolder {
    TemporaryFolder folder;
    std::string path = folder.file("model");
    std::vector<std::string> warnings;

    ModelFolder() { write_tiny_model(*open_device("cpu"), path); }
    Engine engine(const std::vector<std::string>& devices, bool skip_unusable = false) {
        return {{.devices = devices, .skip_unusable = skip_unusable},
                [this](const std::string& message) { warnings.push_back(message); }};
    }
};

}  // namespace

TEST_CASE("two engines in one process do not disturb each other", "[engine]") {
    ModelFolder folder;
    std::array<Engine, 2> engines{folder.engine({"cpu"}), folder.engine({"cpu", "cpu"})};
    std::vector<Ticket<TextRequest>> answers;
    for (Engine& engine : engines) {
        const ModelHandle model = engine.open({folder.path});
        for (int i = 0; i < 20; ++i) {
            answers.push_back(engine.submit(model, TextRequest{.line = {.text = "the dog sees the cat"},
                                                               .options = {.search = model->search_options({})}}));
        }
    }
    const std::string text = answers[0].get().text;
    for (std::size_t i = 1; i < answers.size(); ++i) {
        CHECK(answers[i].get().text == text);
    }
    CHECK_THROWS_WITH(answers[0].get(), Contains("taken before"));
    CHECK(engines[1].devices()[1].name == "cpu (2)");
}

TEST_CASE("the batches of a text do not depend on the number of devices", "[engine]") {
    std::vector<std::vector<double>> scores;
    std::vector<std::int64_t> batches;
    for (const int devices : {1, 3}) {
        Crew crew;
        for (int i = 0; i < devices; ++i) {
            crew.add([] { return open_device("cpu"); });
        }
        const Team team = crew.team();
        std::vector<double>& found = scores.emplace_back();
        for (const TextResult& line : team.lines().translate(many_lines(), {.search = {}, .batch_tokens = 128})) {
            found.push_back(line.log_probability);
        }
        batches.push_back(0);
        for (const DeviceUse& use : team.uses()) {
            batches.back() += use.batches;
        }
    }
    CHECK(scores[0] == scores[1]);
    CHECK(batches[0] == batches[1]);
    CHECK(batches[0] > 1);
}

TEST_CASE("an engine without a usable device is an error", "[engine]") {
    ModelFolder folder;
    CHECK_THROWS_WITH(folder.engine({}), Contains("no device to work on"));
    CHECK_THROWS_WITH(folder.engine({"abacus"}), Contains("abacus"));
    CHECK_THROWS_WITH(folder.engine({"abacus", "slide-rule"}, true), Contains("abacus") && Contains("slide-rule"));
    CHECK(folder.warnings.empty());
    CHECK(folder.engine({"abacus", "cpu"}, true).devices().size() == 1);
    CHECK(folder.warnings.size() == 1);
}

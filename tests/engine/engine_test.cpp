#include "engine/engine.h"

#include <catch2/catch.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/service.h"
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
        return {{.devices = devices, .models = {path}, .skip_unusable = skip_unusable},
                [this](const std::string& message) { warnings.push_back(message); }};
    }
};

}  // namespace

TEST_CASE("two engines in one process do not disturb each other", "[engine]") {
    ModelFolder model;
    const Engine one = model.engine({"cpu"});
    const Engine two = model.engine({"cpu", "cpu"});
    const auto ignore = [](const std::string&) {};
    const Service first(one, ignore);
    const Service second(two, ignore);
    std::vector<Service::Answer> answers;
    for (int i = 0; i < 20; ++i) {
        answers.push_back(first.submit({{.text = "the dog sees the cat"}, one.options()}));
        answers.push_back(second.submit({{.text = "the dog sees the cat"}, two.options()}));
    }
    const std::string text = answers[0].result.get().text;
    for (std::size_t i = 1; i < answers.size(); ++i) {
        CHECK(answers[i].result.get().text == text);
    }
    CHECK_FALSE(one.several());
    CHECK(two.several());
}

// Its way of loading refers to the object.
static_assert(!std::is_move_constructible_v<ModelDevice> && !std::is_copy_constructible_v<ModelDevice>);

TEST_CASE("an engine without a usable device is an error", "[engine]") {
    ModelFolder model;
    CHECK_THROWS_WITH(model.engine({}), Contains("no device to translate on"));
    CHECK_THROWS_WITH(model.engine({"abacus"}), Contains("abacus"));
    CHECK_THROWS_WITH(model.engine({"abacus", "slide-rule"}, true), Contains("abacus") && Contains("slide-rule"));
    CHECK(model.warnings.empty());
    CHECK(model.engine({"abacus", "cpu"}, true).members().size() == 1);
    CHECK(model.warnings.size() == 1);
}

// The device's own copy does not exist while it is reopened.
TEST_CASE("an engine keeps its model and options when a device is reopened", "[engine]") {
    ModelFolder model;
    const Engine engine = model.engine({"cpu"});
    const auto tokenizer = engine.model().target_tokenizer;
    engine.first().reopen();
    CHECK(engine.model().target_tokenizer == tokenizer);
}

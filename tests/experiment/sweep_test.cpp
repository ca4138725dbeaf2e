// Values of a sweep reach the configurations of its trials.
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "experiment/scale.h"
#include "experiment/sweep.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

Sweep sweep_of(const nlohmann::json& model, const std::vector<std::string>& varied) {
    nlohmann::json base = scale_config(0);
    base["model"].update(model);
    std::vector<SweepAxis> axes;
    for (const std::string& text : varied) {
        axes.push_back(SweepAxis::parse(text));
    }
    return {base, axes, 0, 0};
}

std::vector<std::string> names_of(const Sweep& sweep) {
    std::vector<std::string> names;
    for (const Trial& trial : sweep.trials()) {
        names.push_back(trial.name);
    }
    return names;
}

}  // namespace

TEST_CASE("a value that means something only with the base's mixer is varied", "[sweep]") {
    for (const char* key : {"convolution_kernel", "mixer.convolution.kernel"}) {
        const Sweep sweep =
            sweep_of({{"mixer", {{"encoder", "convolution"}}}}, {std::string("model.") + key + "=3,5,7"});
        REQUIRE(sweep.trials().size() == 3);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(sweep.trials()[i].config["model"].value("mixer.convolution.kernel", 0U) == 3 + 2 * i);
        }
    }
}

TEST_CASE("a value without a meaning for the base, or half a key, is refused", "[sweep]") {
    CHECK_THAT(error_of([] { sweep_of(nlohmann::json::object(), {"model.convolution_kernel=3,5"}); }),
               Contains("\"model.mixer.convolution.kernel\" must be left out unless"));
    CHECK_THAT(error_of([] { sweep_of(nlohmann::json::object(), {"model.scale_attention=true,false"}); }),
               Contains("\"model.scale_attention\" is a part of \"model.attention.score\""));
}

TEST_CASE("a key is varied once, whatever it is called", "[sweep]") {
    CHECK_THAT(error_of([] {
                   sweep_of(nlohmann::json::object(), {"model.heads=4", "model.attention.heads=8"});
               }),
               Contains("\"model.attention.heads\" is varied twice"));
}

TEST_CASE("the name of an axis tells it from the others", "[sweep]") {
    CHECK(names_of(sweep_of(nlohmann::json::object(), {"model.positions.kind=learned"})) ==
          std::vector<std::string>{"kind=learned"});
    CHECK(names_of(sweep_of(nlohmann::json::object(),
                            {"model.positions.kind=learned", "model.positions.relative.kind=buckets"})) ==
          std::vector<std::string>{"positions.kind=learned,relative.kind=buckets"});
}

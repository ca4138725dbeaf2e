// The models that the Transformer replaced have as many parameters.
#include <catch2/catch.hpp>

#include "experiment/replaced.h"
#include "experiment/scale.h"
#include "model/config.h"

using namespace headscope;

TEST_CASE("all rows have as many parameters as the Transformer, at every scale", "[replaced]") {
    for (const std::size_t scale : {0, 1, 2}) {
        const auto plans = plan_replaced({}, replaced_base(scale_config(scale)), 0.0);
        REQUIRE(plans.size() == replaced_rows().size());
        const auto parameters = [](const ReplacedPlan& plan) {
            nlohmann::json model = plan.trial.config.at("model");
            model["source_vocabulary"] = model["target_vocabulary"] = 6000;
            return static_cast<double>(count_parameters(parse_model_config(model, plan.row->name)));
        };
        for (const ReplacedPlan& plan : plans) {
            INFO(plan.row->name << " at scale " << scale);
            CHECK(plan.impossible.empty());
            CHECK(parameters(plan) == Approx(parameters(plans.front())).epsilon(0.001));
        }
    }
}

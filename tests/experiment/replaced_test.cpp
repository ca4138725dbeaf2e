// The models that the Transformer replaced have as many parameters.
#include <catch2/catch.hpp>

#include "experiment/scale.h"
#include "experiment/studies.h"
#include "model/config.h"

using namespace headscope;

TEST_CASE("all rows have as many parameters as the Transformer, at every scale", "[replaced]") {
    const Study& study = study_named("replaced");
    for (const std::size_t scale : {0, 1, 2}) {
        nlohmann::json base = scale_config(scale);
        study.prepare(base, {{"task", "translation"}});
        double transformer = 0.0;
        for (const StudyRow& row : study.rows) {
            INFO(row.name << " at scale " << scale);
            const RowConfig planned = study.configure(row, base, nlohmann::json::object());
            CHECK(planned.impossible.empty());
            nlohmann::json model = planned.config.at("model");
            model["source_vocabulary"] = model["target_vocabulary"] = 6000;
            const auto parameters = static_cast<double>(count_parameters(parse_model_config(model, row.name)));
            transformer = transformer == 0.0 ? parameters : transformer;
            CHECK(parameters == Approx(transformer).epsilon(0.001));
        }
    }
}

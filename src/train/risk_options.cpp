#include "train/risk_options.h"

#include <nlohmann/json.hpp>

#include "io/config_fields.h"

namespace headscope {
namespace {

const ConfigFields<RiskOptions>& risk_fields() {
    using Options = RiskOptions;
    static const ConfigFields<Options> table = {
        integer_field("samples", &Options::samples, 2, 1'000),
        choice_field("score", &Options::score, {{"bleu", SentenceScore::Bleu}, {"chrf", SentenceScore::Chrf}}),
        number_field("likelihood", &Options::likelihood, 0.0, 1e3),
    };
    return table;
}

}  // namespace

RiskOptions parse_risk_options(const nlohmann::json& json, const std::string& file) {
    ConfigReader reader(json, file, "risk");
    RiskOptions options;
    read_fields(risk_fields(), reader, options);
    reader.finish();
    return options;
}

nlohmann::json identity_of(const RiskOptions& options) {
    nlohmann::json json;
    for (const ConfigField<RiskOptions>& field : risk_fields()) {
        json["risk." + field.key] = field.write(options);
    }
    return json;
}

}  // namespace headscope

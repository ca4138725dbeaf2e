#include "train/rollout_options.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/config_fields.h"
#include "support/check.h"

namespace headscope {
namespace {

const ConfigFields<RolloutOptions>& fields() {
    using Options = RolloutOptions;
    static const ConfigFields<Options> table = {
        integer_field("prompts", &Options::prompts, 1, 100'000),
        integer_field("samples", &Options::samples, 1, 1'000),
        integer_field("max_tokens", &Options::max_tokens, 1, 100'000),
        integer_field("epochs", &Options::epochs, 1, 1'000),
        integer_field("minibatches", &Options::minibatches, 1, 100'000),
        number_field("kl", &Options::kl, 0.0, 1e3),
        number_field("kl_target", &Options::kl_target, 0.0, 1e6),
        number_field("clip", &Options::clip, 1e-6, 1e3),
        number_field("value_clip", &Options::value_clip, 1e-6, 1e6),
        number_field("gamma", &Options::gamma, 0.0, 1.0),
        number_field("lambda", &Options::lambda, 0.0, 1.0),
        choice_field("advantage", &Options::advantage,
                     {{"gae", AdvantageForm::Generalised}, {"leave_one_out", AdvantageForm::LeaveOneOut}}),
        number_field("missing_end_penalty", &Options::missing_end_penalty, 0.0, 1e6),
        number_field("most_kl", &Options::most_kl, 0.0, 1e6),
        number_field("least_distinct", &Options::least_distinct, 0.0, 1.0),
    };
    return table;
}

}  // namespace

RolloutOptions parse_rollout_options(const nlohmann::json& json, const std::string& file) {
    ConfigReader reader(json, file, "rollouts");
    RolloutOptions options;
    read_fields(fields(), reader, options);
    reader.finish();
    if (options.advantage == AdvantageForm::LeaveOneOut && options.samples < 2) {
        throw Error(
            fmt::format("{}: \"rollouts.samples\" must be at least 2 for the \"advantage\" \"leave_one_out\", "
                        "which compares a response with the others to its prompt",
                        file));
    }
    if (options.minibatches > options.responses()) {
        throw Error(fmt::format("{}: \"rollouts.minibatches\" ({}) must be at most the responses of a rollout ({})",
                                file, options.minibatches, options.responses()));
    }
    return options;
}

nlohmann::json identity_of(const RolloutOptions& options) {
    nlohmann::json json;
    for (const ConfigField<RolloutOptions>& field : fields()) {
        json["rollouts." + field.key] = field.write(options);
    }
    return json;
}

}  // namespace headscope

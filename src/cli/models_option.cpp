#include "cli/models_option.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "infer/model_lookup.h"
#include "options/option_values.h"

namespace headscope {

void add_models_option(CLI::App& command, std::vector<std::string>& models, const std::string& together) {
    command
        .add_option("--model", models,
                    fmt::format("Model directory; without it HEADSCOPE_MODEL or the en-de model. Several, each after "
                                "--model of its own, {}; they share one vocabulary",
                                together))
        ->allow_extra_args(false)
        ->check(something);
}

std::vector<std::string> find_models(const std::vector<std::string>& given, const Settings& settings) {
    if (given.empty()) {
        return {find_model("", settings)};
    }
    std::vector<std::string> found;
    for (const std::string& model : given) {
        found.push_back(find_model(model, settings));
    }
    return found;
}

}  // namespace headscope

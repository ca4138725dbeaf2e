// headscope inspect: what a model is made of.
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "infer/model_lookup.h"
#include "io/input_files.h"
#include "model/model_directory.h"
#include "options/option_values.h"
#include "support/check.h"

namespace headscope {
namespace {

struct InspectOptions {
    std::string model;
    std::string key;
};

std::string plain(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

void inspect(const InspectOptions& options, const Settings& settings) {
    const std::string folder = find_model(options.model, settings);
    InputFiles inputs;
    inputs.add(folder);
    inputs.refuse("-");
    const ModelDirectory model = open_model_directory(folder);
    nlohmann::json facts = to_json(model.config);
    facts["parameters"] = count_parameters(model.config);
    facts["shared_vocabulary"] = model.source_tokenizer == model.target_tokenizer;
    if (!options.key.empty()) {
        if (!facts.contains(options.key)) {
            throw Error(fmt::format("there is no key '{}': without --key all are listed", options.key));
        }
        write_output(plain(facts[options.key]) + "\n");
        return;
    }
    std::string text = model.path + "\n";
    for (const auto& [key, value] : facts.items()) {
        text += fmt::format("    {:<20}{}\n", key, plain(value));
    }
    write_output(text);
}

}  // namespace

void add_inspect_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<InspectOptions>();
    CLI::App* command = app.add_subcommand("inspect", "Print the configuration and size of a model")->group("Look");
    command->footer(
        "The keys are those of config.json with its defaults, the number of parameters, and whether both languages\n"
        "share a vocabulary.\n\n"
        "Examples:\n  headscope inspect runs/my-model\n  headscope inspect --key heads");
    CLI::Option* place =
        command->add_option("MODEL", options->model, "Model directory (default: HEADSCOPE_MODEL, or the en-de model)")
            ->check(not_empty);
    command->add_option("--model", options->model, "The same")->check(not_empty)->excludes(place);
    command->add_option("--key", options->key, "Print only the value of this key");
    command->callback([options, &open_options] { inspect(*options, open_options.settings); });
}

}  // namespace headscope

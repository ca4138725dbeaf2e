// headscope inspect: prints the configuration and size of a model.
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "answers/model_json.h"
#include "cli/command.h"
#include "cli/opened_model.h"
#include "io/input_files.h"
#include "model/sites.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct InspectOptions {
    CommonOptions common;
    std::string key;
    bool sites = false;
};

std::string plain(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

void inspect(const InspectOptions& options) {
    const std::string folder = options.common.model_path();
    InputFiles inputs;
    inputs.add(folder);
    inputs.refuse("-");
    const ModelDirectory model = open_with_remarks(folder);
    if (options.sites) {
        const auto sites = sites_of(model.config);
        write_output(options.common.json ? json_document({{"path", model.path}, {"sites", sites}})
                                         : fmt::format("{}\n", fmt::join(sites, "\n")));
        return;
    }
    const nlohmann::json facts = model_facts(model);
    if (!options.key.empty()) {
        if (!facts.contains(options.key)) {
            throw UsageError(fmt::format("unknown key '{}': omit --key to list all", options.key));
        }
        write_output(plain(facts.at(options.key)) + "\n");
        return;
    }
    if (options.common.json) {
        write_output(json_document({{"path", model.path}, {"keys", facts}}));
        return;
    }
    std::string text = model.path + "\n";
    std::size_t width = 0;
    for (const auto& [key, value] : facts.items()) {
        width = std::max(width, key.size() + 2);
    }
    for (const auto& [key, value] : facts.items()) {
        text += fmt::format("    {:<{}}{}\n", key, width, plain(value));
    }
    write_output(text);
}

}  // namespace

void add_inspect_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<InspectOptions>();
    options->common.open = open_options;
    CLI::App* command = app.add_subcommand("inspect", "Print the configuration and size of a model")->group("Look");
    command->footer(
        "The keys are those of config.json with its defaults, the number of parameters, whether both languages share "
        "a\n"
        "vocabulary, the author's decoding options (decoding_beam and so on), and what the training cost "
        "(docs/model-directory.md).\n\n"
        "Examples:\n  headscope inspect runs/my-model\n  headscope inspect --key attention.heads");
    CLI::Option* place = command->add_option("MODEL", options->common.models, "Model directory, as --model")
                             ->expected(1)
                             ->check(not_empty);
    options->common.add_model(*command)->excludes(place);
    CLI::Option* key = command->add_option("--key", options->key, "Print only the value of this key")->group("Output");
    command->add_flag("--sites", options->sites, "Print the names of the values that can be read in a pass")
        ->group("Output")
        ->excludes(key);
    options->common.add_json(*command)->excludes(key);
    command->callback([options] { inspect(*options); });
}

}  // namespace headscope

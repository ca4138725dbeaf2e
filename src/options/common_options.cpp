#include "options/common_options.h"

#include <CLI/CLI.hpp>

#include "options/option_values.h"

namespace headscope {

namespace {

CLI::Option* add_names(CLI::App& command, const char* option, std::vector<std::string>& names, const char* help) {
    return command.add_option(option, names, help)->allow_extra_args(false)->check(not_empty);
}

}  // namespace

CLI::Option* CommonOptions::add_model(CLI::App& command) {
    return add_names(command, "-m,--model", models, "Model directory")
        ->expected(1)
        ->type_name("FOLDER")
        ->default_str("HEADSCOPE_MODEL, or the " + bundled_model + " model")
        ->group("Model");
}

CLI::Option* CommonOptions::add_models(CLI::App& command) {
    return add_names(command, "-m,--model", models,
                     "Model directory; repeat it to average the probabilities of several models with one vocabulary")
        ->type_name("FOLDER")
        ->default_str("HEADSCOPE_MODEL, or the " + bundled_model + " model")
        ->group("Model");
}

CLI::Option* CommonOptions::add_device(CLI::App& command) {
    return add_names(command, "-d,--device", devices, "cpu, cuda, vulkan, vulkan:1, ...; see headscope devices")
        ->expected(1)
        ->type_name("DEVICE")
        ->default_str("HEADSCOPE_DEVICE, or the best GPU, or cpu")
        ->group("Device");
}

CLI::Option* CommonOptions::add_device_list(CLI::App& command) {
    return add_device(command)->description(
        "cpu, cuda, vulkan, vulkan:1, ..., a list such as vulkan:0,cpu, all, or all+software; see headscope devices");
}

CLI::Option* CommonOptions::add_device_lists(CLI::App& command) {
    return add_device_list(command)->expected(1, -1)->allow_extra_args();
}

CLI::Option* CommonOptions::add_precision(CLI::App& command, const std::vector<Precision>& known) {
    return add_precision_option(command, precision, "Storage and products; an error if the device lacks it", known)
        ->default_str(name_of(precision))
        ->group("Device");
}

CLI::Option* CommonOptions::add_json(CLI::App& command) {
    return command.add_flag("--json", json, "Print JSON instead of text")->group("Output");
}

std::string CommonOptions::device() const {
    return devices.empty() ? "" : devices.front();
}

std::vector<std::string> CommonOptions::find_models() const {
    std::vector<std::string> found;
    for (const std::string& model : models) {
        found.push_back(headscope::find_model(model, open.settings, search_path));
    }
    return found.empty() ? std::vector{headscope::find_model("", open.settings, search_path, bundled_model)} : found;
}

std::string CommonOptions::model_path() const {
    return find_models().front();
}

}  // namespace headscope

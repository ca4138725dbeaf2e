#include "viewer/options/view_options.h"

#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "infer/model_lookup.h"
#include "io/input_files.h"
#include "options/option_values.h"
#include "options/precision_option.h"
#include "support/check.h"
#include "text/normalised.h"
#include "viewer/session/rows.h"
#include "viewer/session/state.h"

namespace headscope {

namespace {

constexpr const char* kExamples =
    "F1 lists the keys. Panels: figure, heads, matrix, time, surgery, model, compare, training.\n\n"
    "Examples:\n"
    "  headscope view\n"
    "  headscope view --text 'The cat sleeps because it is tired.' --device vulkan\n"
    "  headscope view --text 'The cat sleeps.' --panel heads --render heads.png\n"
    "  headscope view view.headscope\n"
    "  headscope view runs/my-model";

// What stands on the command line without an option, as a desktop hands over what was clicked on.
ViewOptions with_path(ViewOptions options) {
    if (options.path.empty()) {
        return options;
    }
    std::error_code failure;
    const bool folder = std::filesystem::is_directory(options.path, failure);
    if (!folder && !std::filesystem::is_regular_file(options.path, failure)) {
        throw Error(fmt::format("{} is neither a saved view nor the folder of a model or a training", options.path));
    }
    std::string& meant = folder ? options.model : options.open;
    if (!meant.empty()) {
        throw Error(fmt::format("{} and {} {} were given, and one is shown", options.path,
                                folder ? "--model" : "--open", meant));
    }
    meant = options.path;
    return options;
}

std::string some_text(const std::string& text) {
    return is_empty_text(text) ? "it holds no text" : "";
}

}  // namespace

viewer::SavedView view_of(const ViewOptions& told, const Settings& settings) {
    const ViewOptions options = with_path(told);
    viewer::SavedView view;
    // The first thing seen: what "it" looks at, in one layer.
    view.state.text = viewer::example_sentences().front();
    view.state.word = viewer::kExampleWord;
    if (!options.open.empty()) {
        view = viewer::read_view(options.open);
    }
    if (options.text.has_value()) {
        viewer::new_sentence(view.state, *options.text);
    }
    if (!options.target.empty()) {
        view.state.target = options.target;
    }
    if (!options.panel.empty()) {
        view.state.panel = viewer::parse_panel(options.panel);
    }
    if (!options.model.empty() || view.model.empty()) {
        // The folder of a training stays one: its checkpoints are looked at as well.
        view.model = options.model.empty() ? find_model("", settings) : options.model;
        view.parameters = 0;  // that it may be another one than the view was saved with is meant
    }
    if (!options.device.empty()) {
        view.device = options.device;
    }
    InputFiles inputs(settings);
    inputs.add({options.open, options.script, view.model, view.other_model});
    inputs.refuse(options.render);
    inputs.refuse(options.record);
    return view;
}

void add_view_options(CLI::App& command, ViewOptions& options) {
    command.footer(kExamples);
    command.add_option("PATH", options.path, "A view that was saved, or the folder of a model or a training")
        ->check(not_empty);
    command
        .add_option("--model", options.model,
                    "Model directory, or the folder of a training; without it HEADSCOPE_MODEL or the en-de model")
        ->check(not_empty);
    command.add_option("--device", options.device, "cpu, cuda, vulkan, vulkan:1, ...; see headscope devices")
        ->check(not_empty);
    add_precision_option(command, options.precision, "f32 (default), tf32, bf16 or f16, where the device has it",
                         training_precisions());
    command.add_option("--text", options.text, "The sentence to begin with")->check(some_text);
    command.add_option("--target", options.target, "Read this translation instead of searching for one");
    command.add_option("--panel", options.panel, "The panel to begin with");
    command.add_option("--open", options.open, "A view that was saved (Ctrl+S)");
    CLI::Option* render = command.add_option("--render", options.render,
                                             "Write the panel to .svg, .png, .json or .tsv (a matrix); no window");
    command.add_option("--scale", options.scale, "Of a .png: 3 is three pixels for one of the .svg")
        ->check(real_number(0.1, 20.0))
        ->capture_default_str();
    command.add_option("--script", options.script, "Play this script in the window instead of listening to anyone")
        ->excludes(render);
    command.add_option("--record", options.record, "Write what is done in the window as such a script")
        ->excludes(render);
}

}  // namespace headscope

#include "viewer/options/view_options.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "infer/model_lookup.h"
#include "io/input_files.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "support/usage_error.h"
#include "text/normalised.h"
#include "viewer/panels/export.h"
#include "viewer/session/places.h"
#include "viewer/session/state.h"
#include "viewer/session/wording.h"

namespace headscope {

namespace {

constexpr const char* kExamples =
    "F1 in the window lists the keys.\n\n"
    "Examples:\n"
    "  headscope view\n"
    "  headscope view --text 'The cat sleeps because it is tired.' --device vulkan\n"
    "  headscope view --text 'The cat sleeps.' --panel heads --render heads.png\n"
    "  headscope view --model vit --picture cat.png\n"
    "  headscope view view.headscope\n"
    "  headscope view runs/my-model";

// Moves `path`, for example a file that was double-clicked, to the option that it stands for.
ViewOptions with_path(ViewOptions options) {
    if (options.path.empty()) {
        return options;
    }
    if (viewer::is_picture_file(options.path) && std::filesystem::is_regular_file(options.path)) {
        if (options.text.has_value() || !options.picture.empty()) {
            throw UsageError(fmt::format("{} and {} were given: give one", options.path,
                                         options.text.has_value() ? "--text" : "--picture " + options.picture));
        }
        options.picture = std::exchange(options.path, "");
        return options;
    }
    options.path = named_model(options.path, options.common.search_path);
    std::error_code failure;
    const bool folder = !viewer::is_view(options.path);
    if (!std::filesystem::exists(options.path, failure)) {
        throw UsageError(
            fmt::format("{} is neither a saved view nor a model, a training or an experiment", options.path));
    }
    if (folder ? !options.common.models.empty() : !options.open.empty()) {
        throw UsageError(fmt::format("{} and {} were given: give one", options.path,
                                     folder ? "--model " + options.common.models.front() : "--open " + options.open));
    }
    if (folder) {
        options.common.models = {options.path};
    } else {
        options.open = options.path;
    }
    return options;
}

std::string some_text(const std::string& text) {
    return is_empty_text(text) ? "it holds no text" : "";
}

}  // namespace

viewer::SavedView view_of(const ViewOptions& given) {
    const ViewOptions options = with_path(given);
    viewer::SavedView view;
    viewer::show_example(view.state, {});  // of another family: see fit_reading()
    view.state.chosen.emplace();           // the window chooses one
    if (!options.open.empty()) {
        view = viewer::read_view(options.open);
    }
    if (options.text.has_value()) {
        viewer::new_sentence(view.state, *options.text);
    }
    if (!options.picture.empty()) {
        viewer::new_sentence(view.state, options.picture);
    }
    view.picture = options.picture;
    view.state.chat = view.state.chat || options.chat;
    if (!options.target.empty()) {
        view.state.target = options.target;
    }
    view.state.source_language = options.languages.source_language.value_or(view.state.source_language);
    view.state.target_language = options.languages.target_language.value_or(view.state.target_language);
    if (!options.panel.empty()) {
        view.state.panel = viewer::parse_panel(options.panel);
    }
    const CommonOptions& common = options.common;
    if (!common.models.empty() || view.model.empty()) {
        // A training's folder is kept as it is: the viewer also shows its checkpoints.
        view.model = common.models.empty() ? find_model("", common.open.settings, common.search_path)
                                           : named_model(common.models.front(), common.search_path);
        view.parameters = 0;  // the user chose the model: do not compare it with the saved one
        view.file.clear();    // or look for it elsewhere
    }
    if (!common.devices.empty()) {
        view.device = common.device();
    }
    InputFiles inputs(common.open.settings);
    inputs.add({options.open, options.script, options.picture, view.model, view.other_model});
    inputs.refuse(options.render);
    return view;
}

void add_view_options(CLI::App& command, ViewOptions& options) {
    command.footer(kExamples);
    command.add_option("PATH", options.path, "A saved view, or the folder of a model, a training or an experiment")
        ->check(not_empty);
    options.common.add_model(command)->description("Model directory, or the folder of a training or an experiment");
    options.common.add_device(command);
    options.common.add_precision(command);
    command.option_defaults()->group("View");
    command.add_option("--open", options.open, "A saved view (Ctrl+S)")->type_name("FILE");
    command.add_option("--text", options.text, "Start with this sentence or prompt")->check(some_text);
    command
        .add_option("--picture", options.picture, "Start with this PNG or JPEG file, of a model that reads pictures")
        ->type_name("FILE")
        ->excludes("--text");
    command.add_flag("--chat", options.chat, "The text is a message to a causal language model, in its chat template");
    command.add_option("--target", options.target,
                       "Read this translation or continuation instead of searching for one");
    add_decoding_flags(command, options.languages, {"source_language", "target_language"});
    command
        .add_option("--panel", options.panel,
                    fmt::format("Start with this panel:\n{}", fmt::join(viewer::kPanelNames, ", ")))
        ->default_str("the saved view's, or figure");
    command.option_defaults()->group("Output");
    CLI::Option* render =
        command
            .add_option("--render", options.render,
                        "Write the panel to this file, " + viewer::export_names() + ", and open no window")
            ->type_name("FILE");
    command.add_option("--scale", options.scale, "PNG pixels per unit of the drawing")
        ->check(real_number(0.1, 20.0))
        ->capture_default_str();
    command.option_defaults()->group("Script");
    command.add_option("--script", options.script, "Play this script in the window; keyboard and mouse are ignored")
        ->type_name("FILE")
        ->excludes(render);
}

}  // namespace headscope

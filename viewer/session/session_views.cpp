// How a session saves and opens views.
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "support/check.h"
#include "viewer/session/session.h"
#include "viewer/session/session_paths.h"
#include "viewer/session/view_model.h"

namespace headscope::viewer {

SavedView Session::saved(const std::string& file) const {
    SavedView view{.state = scene_.state,
                   .model = name_for_view(main_.open.model, file, search_path_),
                   .device = main_.open.device};
    if (scene_.main.model.has_value()) {
        view.state.checkpoint = scene_.main.model->checkpoint;
        view.model_name = scene_.main.model->name;
        view.parameters = scene_.main.model->parameters;
        if (scene_.main.model->config.input.patches()) {  // the view may be opened from another folder
            for (std::string* picture : {&view.state.text, &view.state.second}) {
                *picture = picture->empty() ? "" : absolute_path(*picture);
            }
        }
    }
    if (scene_.other.has_value()) {
        view.other_model = name_for_view(other_.open.model, file, search_path_);
        view.other_device = other_.open.device;
        view.other_checkpoint = other_.open.checkpoint;
    }
    return view;
}

void Session::refuse_models(const std::string& path) const {
    InputFiles inputs;
    inputs.add({main_.open.model, other_.open.model});
    inputs.refuse(path);
}

void Session::save_view(const std::string& path) {
    try {
        refuse_models(path);
        atomic_write_file(path, to_json(saved(path)));
        notify("Saved this view as " + absolute_path(path));
    } catch (const Error& error) {
        report_error(error.what());
    }
}

void Session::open_view(const std::string& path, const std::string& device) {
    begin_opening(path);
    try {
        SavedView view = with_places(read_view(path), settings_.recent_models, search_path_);
        view.device = device.empty() ? view.device : device;
        remember(settings_.recent_models, absolute_path(path));
        scene_.state = view.state;
        awaited_ = view;
        notify_notes(view);
        start(
            main_, scene_.main,
            {.model = view.model, .checkpoint = view.state.checkpoint, .device = view.device, .precision = precision_});
        if (view.other_model.empty()) {
            end_comparison();
        } else {
            compare_with(view.other_model, view.other_device, view.other_checkpoint);
        }
    } catch (const Error& error) {
        refuse(error.what());
    }
}

void Session::notify_notes(const SavedView& view) {
    for (const std::string& note : view.notes) {
        notify("The view: " + note);
    }
}

}  // namespace headscope::viewer

#include "viewer/session/session.h"

#include <algorithm>
#include <utility>

#include "infer/model_lookup.h"
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "support/check.h"
#include "text/normalised.h"
#include "viewer/session/session_paths.h"
#include "viewer/session/view_model.h"

namespace headscope::viewer {

namespace {

constexpr std::size_t kNotices = 20;
constexpr auto kNoticeLasts = std::chrono::seconds(8);
constexpr auto kRunReadAgain = std::chrono::seconds(3);

}  // namespace

Session::Session(const SessionOptions& options, std::function<void()> wake)
    : wake_(std::move(wake)),
      open_device_(options.open_device),
      search_path_(options.search_path),
      precision_(options.precision),
      scene_{.state = options.view.state},
      settings_(options.settings),
      settings_file_(options.settings_file),
      history_(options.view.state) {
    awaited_ = with_places(options.view, settings_.recent_models, search_path_);
    notify_notes(awaited_);
    start(main_, scene_.main,
          {.model = options.view.file.empty() ? options.model : awaited_.model,
           .checkpoint = scene_.state.checkpoint,
           .device = options.device,
           .precision = precision_});
    if (!awaited_.other_model.empty()) {
        compare_with(awaited_.other_model, awaited_.other_device, awaited_.other_checkpoint);
    }
}

Session::~Session() {
    if (settings_file_.empty()) {
        return;
    }
    try {
        save_settings(settings_file_, settings_);
    } catch (const Error&) {
        // Losing the window's size is no reason to fail at exit.
    }
}

void Session::start(Client& client, Side& side, OpenRequest request) {
    if (client.worker == nullptr) {
        client.worker = std::make_unique<Worker>(wake_, open_device_);
    }
    client.open = std::move(request);
    client.open_tag = client.worker->open(client.open);
    client.opening = true;
    client.exploring = client.exploring_original = false;
    client.asked.reset();
    client.asked_original.reset();
    forget_problem(side);
    side.busy = true;
    if (&client == &main_) {  // opening cancels these, too
        measured_.reset();
        scene_.importance.reset();
        measuring_ = false;
        asked_neuron_.reset();
        scene_.neuron.reset();
        neuron_tag_ = 0;
        asked_inside_.reset();
        scene_.inside.reset();
        inside_tag_ = 0;
        asked_weights_.clear();
        scene_.weights.reset();
        weights_tag_ = 0;
    }
}

void Session::open(const std::string& path, const std::string& device) {
    if (is_view_file(path)) {
        open_view(path, device);
        return;
    }
    try {
        const std::string model = named_model(path, search_path_);
        scene_.state.checkpoint.reset();
        awaited_ = {};
        start(main_, scene_.main, {.model = model, .device = device, .precision = precision_});
    } catch (const Error& error) {
        report_error(error.what());
    }
}

void Session::open_checkpoint(std::int64_t step) {
    scene_.state.checkpoint = step;
    follow_checkpoint();
}

// The checkpoint is part of the state, so that undo can return to another one.
void Session::follow_checkpoint() {
    std::optional<std::int64_t>& wanted = scene_.state.checkpoint;
    if (wanted == main_.open.checkpoint) {
        return;
    }
    const auto has = [&](std::int64_t step) {
        const auto& steps = scene_.run->checkpoints;
        return std::find(steps.begin(), steps.end(), step) != steps.end();
    };
    if (scene_.run == nullptr || (wanted.has_value() && !has(*wanted))) {
        wanted = main_.open.checkpoint;  // it was another training's, or was removed
        return;
    }
    OpenRequest request = main_.open;
    request.checkpoint = wanted;
    start(main_, scene_.main, request);
}

void Session::compare_texts() {
    if (scene_.state.second == compared_text_ || !scene_.main.model.has_value()) {
        return;
    }
    compared_text_ = scene_.state.second;
    if (!is_empty_text(compared_text_) && !scene_.other.has_value()) {
        compare_with(model_path(), device(), scene_.main.model->checkpoint);
    }
}

void Session::compare_with(const std::string& model, const std::string& device,
                           std::optional<std::int64_t> checkpoint) {
    try {
        const std::string path = named_model(model, search_path_);
        scene_.other.emplace();
        start(other_, *scene_.other,
              {.model = path, .checkpoint = checkpoint, .device = device, .precision = precision_});
    } catch (const Error& error) {
        report_error(error.what());
    }
}

// The worker's thread may take long to finish, so another thread waits for it.
void Session::end_comparison() {
    if (other_.worker != nullptr) {
        retiring_.push_back(
            std::async(std::launch::async, [worker = std::move(other_.worker)]() mutable { worker.reset(); }));
    }
    other_ = {};
    scene_.other.reset();
}

void Session::update(History::Clock::time_point now) {
    history_.note(scene_.state, now);
    follow_checkpoint();
    take(main_, scene_.main);
    choose_head();
    ask(main_, scene_.main);
    if (scene_.other.has_value()) {
        take(other_, *scene_.other);
        ask(other_, *scene_.other);
    }
    std::erase_if(retiring_, [](const std::future<void>& worker) {
        return worker.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    });
    drop_stale();
    ask_neuron();
    ask_inside();
    ask_weights();
    if (follows_run() && now - run_read_ > kRunReadAgain) {
        run_read_ = now;
        run_tag_ = main_.worker->read_run();
    }
    while (!notices_.empty() && !notices_.front().error && now - notices_.front().since > kNoticeLasts) {
        notices_.pop_front();
    }
}

bool Session::busy() const {
    return scene_.main.busy || (scene_.other.has_value() && scene_.other->busy) || measuring_ || neuron_tag_ != 0 ||
           inside_tag_ != 0 || weights_tag_ != 0;
}

bool Session::follows_run() const {
    return scene_.run != nullptr && scene_.state.panel == PanelId::Training;
}

void Session::undo() {
    scene_.state = history_.undo();
}
void Session::redo() {
    scene_.state = history_.redo();
}

SavedView Session::saved(const std::string& file) const {
    SavedView view{.state = scene_.state,
                   .model = name_for_view(main_.open.model, file, search_path_),
                   .device = main_.open.device};
    if (scene_.main.model.has_value()) {
        view.state.checkpoint = scene_.main.model->checkpoint;
        view.model_name = scene_.main.model->name;
        view.parameters = scene_.main.model->parameters;
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
        report_error(error.what());
    }
}

void Session::notify_notes(const SavedView& view) {
    for (const std::string& note : view.notes) {
        notify("The view: " + note);
    }
}

void Session::notify(const std::string& text) {
    add_notice({text, false, History::Clock::now()});
}
void Session::report_error(const std::string& text) {
    add_notice({text, true, History::Clock::now()});
}

void Session::forget_problem(Side& side) {
    std::erase_if(notices_, [&](const Notice& notice) { return notice.error && notice.text == side.problem; });
    side.problem.clear();
}

void Session::add_notice(Notice notice) {
    notices_.push_back(std::move(notice));
    if (notices_.size() > kNotices) {
        notices_.pop_front();
    }
}

void Session::dismiss(std::size_t notice) {
    if (notice < notices_.size()) {
        notices_.erase(notices_.begin() + static_cast<std::ptrdiff_t>(notice));
    }
}

}  // namespace headscope::viewer

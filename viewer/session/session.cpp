#include "viewer/session/session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "infer/model_lookup.h"
#include "support/check.h"
#include "text/normalised.h"
#include "viewer/session/places.h"
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
      fitting_panel_(options.fitting_panel),
      search_path_(options.search_path),
      precision_(options.precision),
      scene_{.state = options.view.state, .most_weights = options.most_weights},
      settings_(options.settings),
      saved_settings_(options.settings),
      settings_file_(options.settings_file),
      history_(options.view.state) {
    awaited_ = with_places(options.view, settings_.recent_models, search_path_);
    opening_ = options.view.file.empty() ? options.model : options.view.file;
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
    keep_settings();
}

// Saves what has changed, so that a program that is killed loses nothing.
void Session::keep_settings() {
    if (settings_file_.empty() || settings_ == saved_settings_) {
        return;
    }
    saved_settings_ = settings_;
    try {
        save_settings(settings_file_, settings_);
    } catch (const Error& error) {
        report_error(fmt::format("the settings are not saved: {}", error.what()));
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
        end_writing();
        measured_.reset();
        scene_.importance.reset();
        measuring_ = false;
        asked_neuron_.reset();
        scene_.neuron.reset();
        neuron_tag_ = 0;
        forget_inside();
        asked_weights_.clear();
        scene_.weights.reset();
        weights_tag_ = 0;
    }
}

void Session::open(const std::string& path, const std::string& device) {
    if (is_picture_file(path)) {
        begin_opening(path);
        show_picture(absolute_path(path));
        if (!refused_.has_value() && device != main_.open.device) {
            open(main_.open.model, device);
        }
        return;
    }
    if (is_view(path)) {
        open_view(path, device);
        return;
    }
    begin_opening(path);
    try {
        const std::string model = named_model(path, search_path_);
        scene_.state.checkpoint.reset();
        awaited_ = {};
        other_follows_ = other_follows_ || compares_texts();
        start(main_, scene_.main, {.model = model, .device = device, .precision = precision_});
    } catch (const Error& error) {
        refuse(error.what());
    }
}

void Session::show_picture(const std::string& path) {
    const std::optional<Opened>& model = scene_.main.model;
    if (!model.has_value() || !model->config.input.patches()) {
        refuse(
            fmt::format("{} is a picture, and {}: open a model that reads pictures first, such as a "
                        "ViTForImageClassification",
                        path, model.has_value() ? model->name + " reads text" : "no model is open"));
        return;
    }
    new_sentence(scene_.state, path);
    remember(settings_.recent_pictures, absolute_path(path));
}

void Session::begin_opening(const std::string& path) {
    if (refused_.has_value()) {
        forget_notice(refused_->why);
    }
    refused_.reset();
    opening_ = path;
}

// Whether both sides are one model, which reads two texts.
bool Session::compares_texts() const {
    if (!scene_.main.model.has_value() || !scene_.other.has_value() || !scene_.other->model.has_value()) {
        return false;
    }
    const Opened& main = *scene_.main.model;
    const Opened& other = *scene_.other->model;
    return !is_empty_text(scene_.state.second) && other.path == main.path && other.checkpoint == main.checkpoint &&
           main_.opened.has_value() && other_.opened.has_value() && other_.opened->device == main_.opened->device;
}

void Session::refuse(const std::string& why) {
    if (!opening_.empty()) {
        refused_ = {opening_, why};
    }
    report_error(why);
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
    begin_opening("");
    OpenRequest request = main_.open;
    request.checkpoint = wanted;
    other_follows_ = other_follows_ || compares_texts();
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
        OpenRequest request{.model = path, .checkpoint = checkpoint, .device = device, .precision = precision_};
        if (main_.opening && main_.open.model == path && main_.open.checkpoint == checkpoint &&
            main_.open.device == device) {
            await_main(std::move(request));
            return;
        }
        other_follows_ = false;
        const std::optional<Opened>& main = scene_.main.model;
        if (main.has_value() && main->path == path && main->checkpoint == checkpoint && main_.opened.has_value() &&
            main_.opened->device == device) {
            request.same = main->shared;
        }
        scene_.other.emplace();
        start(other_, *scene_.other, std::move(request));
    } catch (const Error& error) {
        report_error(error.what());
    }
}

// A model that is being opened is loaded once for both sides.
void Session::await_main(OpenRequest request) {
    end_comparison();
    scene_.other.emplace().busy = true;
    other_.open = std::move(request);
    other_follows_ = true;
}

void Session::follow_main() {
    if (std::exchange(other_follows_, false)) {
        compare_with(model_path(), device(), scene_.main.model->checkpoint);
    }
}

// The worker's thread may take long to finish, so another thread waits for it.
void Session::end_comparison() {
    other_follows_ = false;
    if (other_.worker != nullptr) {
        retire(std::move(other_.worker));
    }
    other_ = {};
    scene_.other.reset();
}

void Session::update(History::Clock::time_point now) {
    history_.note(scene_.state, now);
    follow_checkpoint();
    take(main_, scene_.main);
    take_reply();
    choose_head();
    ask(main_, scene_.main);
    if (scene_.other.has_value() && other_.worker != nullptr) {
        take(other_, *scene_.other);
        ask(other_, *scene_.other);
    }
    std::erase_if(retiring_, [](const std::future<void>& worker) {
        return worker.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    });
    drop_stale();
    ask_neuron();
    for (std::size_t view = 0; view < kInsideViews; ++view) {
        ask_inside(static_cast<InsideView>(view));
    }
    ask_weights();
    keep_settings();
    if (follows_run() && now - run_read_ > kRunReadAgain) {
        run_read_ = now;
        run_tag_ = main_.worker->read_run();
    }
    while (!notices_.empty() && !notices_.front().error && now - notices_.front().since > kNoticeLasts) {
        notices_.pop_front();
    }
}

bool Session::busy() const {
    const auto awaited = [](const AskedInside& asked) { return asked.tag != 0; };
    return scene_.main.busy || (scene_.other.has_value() && scene_.other->busy) || measuring_ || neuron_tag_ != 0 ||
           weights_tag_ != 0 || replying() || std::ranges::any_of(asked_inside_, awaited);
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

void Session::notify(const std::string& text) {
    add_notice({text, false, History::Clock::now()});
}
void Session::report_error(const std::string& text) {
    add_notice({text, true, History::Clock::now()});
}

void Session::forget_problem(Side& side) {
    forget_notice(side.problem);
    side.problem.clear();
}

void Session::forget_notice(const std::string& error) {
    std::erase_if(notices_, [&](const Notice& notice) { return notice.error && notice.text == error; });
}

// A repeated notice replaces the one before.
void Session::add_notice(Notice notice) {
    std::erase_if(notices_, [&](const Notice& old) { return old.error == notice.error && old.text == notice.text; });
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

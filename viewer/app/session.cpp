#include "viewer/app/session.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "explore/explorer.h"
#include "io/atomic_file.h"
#include "support/check.h"
#include "viewer/app/rows.h"

namespace headscope::viewer {

namespace {

constexpr std::size_t kNotices = 20;
constexpr auto kNoticeLasts = std::chrono::seconds(8);
constexpr auto kRunReadAgain = std::chrono::seconds(3);

// An answer that nothing more follows.
bool complete(const Exploration& exploration) {
    return exploration.finished || !exploration.problem.empty();
}

std::string absolute(const std::string& path) {
    std::error_code failed;
    const std::filesystem::path whole = std::filesystem::absolute(path, failed).lexically_normal();
    return failed ? path : whole.string();
}

}  // namespace

Session::Session(const SessionOptions& options, std::function<void()> wake)
    : wake_(std::move(wake)),
      precision_(options.precision),
      scene_{.state = options.view.state},
      settings_(options.settings),
      settings_file_(options.settings_file),
      history_(options.view.state) {
    awaited_ = options.view;
    start(main_, scene_.main,
          {.model = options.model,
           .checkpoint = scene_.state.checkpoint,
           .device = options.device,
           .precision = precision_});
    if (!options.view.other_model.empty()) {
        compare_with(options.view.other_model, options.view.other_device, options.view.other_checkpoint);
    }
}

Session::~Session() {
    if (settings_file_.empty()) {
        return;
    }
    try {
        save_settings(settings_file_, settings_);
    } catch (const Error&) {
        // The program ends; that it forgets its window's size is no reason to end badly.
    }
}

void Session::start(Seat& seat, Side& side, OpenRequest request) {
    if (seat.worker == nullptr) {
        seat.worker = std::make_unique<Worker>(wake_);
    }
    seat.open = std::move(request);
    seat.open_tag = seat.worker->open(seat.open);
    seat.opening = true;
    seat.exploring = seat.exploring_original = false;
    seat.asked.reset();
    seat.asked_original.reset();
    side.problem.clear();
    side.busy = true;
    if (&seat == &main_) {  // opening ends these, too
        measured_.reset();
        scene_.importance.reset();
        measuring_ = false;
        asked_neuron_.reset();
        scene_.neuron.reset();
        neuron_tag_ = 0;
        asked_weights_.clear();
        scene_.weights.reset();
        weights_tag_ = 0;
    }
}

void Session::open(const std::string& model, const std::string& device) {
    scene_.state.checkpoint.reset();
    start(main_, scene_.main, {.model = model, .device = device, .precision = precision_});
}

void Session::open_checkpoint(std::int64_t step) {
    scene_.state.checkpoint = step;
    follow_checkpoint();
}

// The state says which checkpoint is looked at, so that undo goes back to another one.
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
        wanted = main_.open.checkpoint;  // of another training, or gone
        return;
    }
    OpenRequest request = main_.open;
    request.checkpoint = wanted;
    start(main_, scene_.main, request);
}

void Session::compare_with(const std::string& model, const std::string& device,
                           std::optional<std::int64_t> checkpoint) {
    scene_.other.emplace();
    start(other_, *scene_.other, {.model = model, .checkpoint = checkpoint, .device = device, .precision = precision_});
}

void Session::end_comparison() {
    other_ = {};
    scene_.other.reset();
}

void Session::measure_importance() {
    const auto& shown = scene_.main.shown;
    if (shown == nullptr || !shown->finished) {
        tell("The importance of heads can be measured once there is a translation.");
        return;
    }
    measured_ = main_.asked;
    scene_.importance.reset();
    measure_tag_ = main_.worker->measure(with_target(*main_.asked, *shown));
    measuring_ = true;
}

void Session::heard(Seat& seat, Side& side, const News& news) {
    if (const auto* opened = std::get_if<Opened>(&news); opened != nullptr) {
        seat.opening = false;
        seat.opened = seat.open;
        side.model = *opened;
        side.shown = side.original = nullptr;
        if (&seat == &main_) {
            scene_.run = opened->run;
            // What is kept for other starts has to be found from another folder, too.
            remember(settings_.recent_models, settings_file_.empty() ? opened->path : absolute(opened->path));
            const SavedView awaited = std::exchange(awaited_, {});
            if (awaited.parameters != 0 && awaited.parameters != opened->parameters) {
                complain(fmt::format("this view was saved with another model: {} had {} parameters, {} has {}",
                                     awaited.model_name, awaited.parameters, opened->name, opened->parameters));
            }
        }
    } else if (const auto* explored = std::get_if<Explored>(&news); explored != nullptr) {
        const bool done = complete(*explored->exploration);
        if (explored->tag == seat.shown_tag) {
            side.shown = explored->exploration;
            seat.exploring = !done;
        } else if (explored->tag == seat.original_tag) {
            side.original = explored->exploration;
            seat.exploring_original = !done;
        }
    } else if (const auto* measured = std::get_if<Measured>(&news); measured != nullptr) {
        scene_.importance = measured->importance;
        measuring_ = !measured->importance->finished && measured->importance->problem.empty();
    } else if (const auto* neuron = std::get_if<NeuronSeen>(&news); neuron != nullptr) {
        scene_.neuron = neuron->view;
        neuron_tag_ = 0;
    } else if (const auto* weights = std::get_if<WeightsRead>(&news); weights != nullptr) {
        scene_.weights = weights->weights;
        weights_tag_ = 0;
    } else if (const auto* run = std::get_if<RunRead>(&news); run != nullptr) {
        scene_.run = run->run;
    } else if (const auto* failed = std::get_if<Failed>(&news); failed != nullptr) {
        side.problem = failed->message;
        complain(failed->message);
        if (seat.opening && failed->tag == seat.open_tag) {
            opening_failed(seat);
        }
        seat.exploring = seat.exploring && failed->tag != seat.shown_tag;
        seat.exploring_original = seat.exploring_original && failed->tag != seat.original_tag;
        measuring_ = measuring_ && failed->tag != measure_tag_;
        neuron_tag_ = failed->tag == neuron_tag_ ? 0 : neuron_tag_;
        weights_tag_ = failed->tag == weights_tag_ ? 0 : weights_tag_;
    }
}

// What was open before still is.
void Session::opening_failed(Seat& seat) {
    seat.opening = false;
    if (seat.opened.has_value()) {
        seat.open = *seat.opened;
    }
    if (&seat == &main_) {
        scene_.state.checkpoint = seat.open.checkpoint;
        awaited_ = {};
    }
}

void Session::take(Seat& seat, Side& side) {
    for (const News& news : seat.worker->poll()) {
        heard(seat, side, news);
    }
    side.busy = seat.opening || seat.exploring || seat.exploring_original;
    if (scene_.state.edits.empty()) {
        side.original = side.shown;
    }
}

void Session::ask(Seat& seat, Side& side) {
    if (!side.model.has_value() || seat.opening) {
        return;
    }
    const ExploreRequest wanted = request_of(scene_.state);
    if (wanted.source.find_first_not_of(" \t\n") == std::string::npos) {
        side.shown = side.original = nullptr;
        side.problem = "Type a sentence above.";
        seat.asked.reset();
        seat.asked_original.reset();
        seat.exploring = seat.exploring_original = false;
        return;
    }
    if (seat.asked != wanted) {
        side.problem.clear();
        seat.asked = wanted;
        seat.shown_tag = seat.worker->explore(wanted);
        seat.exploring = true;
        side.busy = true;
    }
    ExploreRequest plain = wanted;
    plain.edits.clear();
    if (!wanted.edits.empty() && seat.asked_original != plain) {
        seat.asked_original = plain;
        seat.original_tag = seat.worker->explore_original(plain);
        seat.exploring_original = true;
        side.busy = true;
    } else if (wanted.edits.empty()) {
        seat.asked_original.reset();
    }
}

// What was measured of another sentence is not shown for this one.
void Session::drop_stale() {
    if (measured_.has_value() && measured_ != main_.asked) {
        measured_.reset();
        scene_.importance.reset();
        measuring_ = false;
    }
}

void Session::ask_neuron() {
    const ViewState& state = scene_.state;
    const auto& shown = scene_.main.shown;
    const bool wanted = state.panel == PanelId::Matrix && state.matrix == MatrixView::Head && state.word >= 0 &&
                        shown != nullptr && shown->finished;
    if (!wanted) {
        return;
    }
    NeuronRequest request{with_target(*main_.asked, *shown), shown_site(scene_), first_head(scene_)};
    const bool same = asked_neuron_.has_value() && asked_neuron_->explore == request.explore &&
                      asked_neuron_->site == request.site && asked_neuron_->head == request.head;
    if (!same) {
        asked_neuron_ = request;
        scene_.neuron.reset();
        neuron_tag_ = main_.worker->look_at_neuron(std::move(request));
    }
}

void Session::ask_weights() {
    const std::string& block = scene_.state.block;
    if (scene_.state.panel == PanelId::Model && scene_.main.model.has_value() && !main_.opening &&
        asked_weights_ != block) {
        asked_weights_ = block;
        scene_.weights.reset();
        weights_tag_ = block.empty() ? 0 : main_.worker->read_weights(block);
    }
}

void Session::update(History::Clock::time_point now) {
    history_.note(scene_.state, now);
    follow_checkpoint();
    take(main_, scene_.main);
    ask(main_, scene_.main);
    if (scene_.other.has_value()) {
        take(other_, *scene_.other);
        ask(other_, *scene_.other);
    }
    drop_stale();
    ask_neuron();
    ask_weights();
    if (follows_run() && now - run_read_ > kRunReadAgain) {
        run_read_ = now;
        main_.worker->read_run();
    }
    while (!notices_.empty() && !notices_.front().wrong && now - notices_.front().since > kNoticeLasts) {
        notices_.pop_front();
    }
}

bool Session::busy() const {
    return scene_.main.busy || (scene_.other.has_value() && scene_.other->busy) || measuring_ || neuron_tag_ != 0 ||
           weights_tag_ != 0;
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

SavedView Session::saved() const {
    SavedView view{.state = scene_.state, .model = absolute(main_.open.model), .device = main_.open.device};
    if (scene_.main.model.has_value()) {
        view.state.checkpoint = scene_.main.model->checkpoint;
        view.model_name = scene_.main.model->name;
        view.parameters = scene_.main.model->parameters;
    }
    if (scene_.other.has_value()) {
        view.other_model = absolute(other_.open.model);
        view.other_device = other_.open.device;
        view.other_checkpoint = other_.open.checkpoint;
    }
    return view;
}

void Session::save_view(const std::string& path) {
    try {
        atomic_write_file(path, to_json(saved()));
        tell("Saved this view as " + path);
    } catch (const Error& error) {
        complain(error.what());
    }
}

void Session::open_view(const std::string& path) {
    try {
        const SavedView view = read_view(path);
        scene_.state = view.state;
        awaited_ = view;
        start(
            main_, scene_.main,
            {.model = view.model, .checkpoint = view.state.checkpoint, .device = view.device, .precision = precision_});
        if (view.other_model.empty()) {
            end_comparison();
        } else {
            compare_with(view.other_model, view.other_device, view.other_checkpoint);
        }
    } catch (const Error& error) {
        complain(error.what());
    }
}

void Session::tell(const std::string& text) {
    notice({text, false, History::Clock::now()});
}
void Session::complain(const std::string& text) {
    notice({text, true, History::Clock::now()});
}

void Session::notice(Notice news) {
    notices_.push_back(std::move(news));
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

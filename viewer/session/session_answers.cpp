// How a session handles its workers' results.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "explore/explorer.h"
#include "model/family.h"
#include "viewer/session/rows.h"
#include "viewer/session/session.h"
#include "viewer/session/session_paths.h"
#include "viewer/session/view_model.h"
#include "viewer/session/wording.h"

namespace headscope::viewer {

namespace {

namespace fs = std::filesystem;

// Whether this is the last report of a request.
bool complete(const Exploration& exploration) {
    return exploration.finished || !exploration.problem.empty();
}

// Where the model of a saved view was looked for; empty if it was found, and so failed for another reason.
std::string note_on_places(const SavedView& view, const std::vector<std::string>& recent,
                           const std::vector<std::filesystem::path>& search_path) {
    const std::string name = name_of_model(view);
    if (view.file.empty() || !place_of_model(view.model, name, view.file, recent, search_path).empty()) {
        return "";
    }
    return fmt::format(
        ". The saved view {} asks for it. There is no \"{}\" beside the view or among the recent and bundled models, "
        "either: open it (Ctrl+O), or put its folder beside the view",
        view.file, name);
}

}  // namespace

void Session::take(Client& client, Side& side) {
    for (const WorkerEvent& event : client.worker->poll()) {
        std::visit([&](const auto& one) { handle(client, side, one); }, event);
    }
    side.busy = client.opening || client.exploring || client.exploring_original;
    if (side.answered.has_value() && side.answered->edits.empty()) {
        side.original = side.shown;
        side.answered_original = side.answered;
    }
}

void Session::handle(Client& client, Side& side, const Opened& opened) {
    client.opening = false;
    client.opened = client.open;
    const std::optional<Reading> before =
        side.model.has_value() ? std::optional(Reading(side.model->config)) : std::nullopt;
    const bool same_model = side.model.has_value() && side.model->path == opened.path;
    side.model = opened;
    side.forget_answers();
    if (&client != &main_) {
        return;
    }
    if (follows_choice(scene_.state) && !same_model && awaited_.model_name.empty()) {
        scene_.state.chosen->text.clear();  // another model has other heads
        history_.amend(scene_.state);
    }
    scene_.run = opened.run;
    scene_.experiment = opened.experiment;
    run_problem_.clear();
    remember(settings_.recent_models, settings_file_.empty() ? opened.path : absolute_path(opened.path));
    const SavedView awaited = std::exchange(awaited_, {});
    if (awaited.model_name.empty()) {
        show_experiment(opened);
        fit_reading(scene_.state, before, Reading(opened.config));
        if (!same_model) {
            scene_.state.heads_page = 0;
        }
        if (before.has_value() || scene_.state.panel == PanelId::Figure) {  // no other panel is a default
            scene_.state.panel = fitting_panel_(scene_);
        }
    }
    if (!awaited.picture.empty()) {
        if (!opened.config.input.patches()) {
            show_example(scene_.state, Reading(opened.config));
        }
        show_picture(awaited.picture);
    }
    if (scene_.state.target.has_value() && !traits(opened.config.architecture).writes_pieces) {
        scene_.state.target.reset();
        report_error(
            fmt::format("{} writes no text, so it cannot read the one that was given as its output", opened.name));
    }
    if (awaited.parameters != 0 && awaited.parameters != opened.parameters) {
        report_error(fmt::format("this view was saved with another model: {} had {} parameters, {} has {}",
                                 awaited.model_name, awaited.parameters, opened.name, opened.parameters));
    }
    follow_main();
}

// An experiment was opened for its table, and not one of its trials for a sentence's heads.
void Session::show_experiment(const Opened& opened) {
    if (opened.experiment != nullptr && scene_.state.panel == PanelId::Figure &&
        fs::path(absolute_path(opened.path)) / "" == fs::path(opened.experiment->folder) / "") {
        scene_.state.panel = PanelId::Training;
    }
}

void Session::handle(Client& client, Side& side, const Explored& explored) {
    const bool done = complete(*explored.exploration);
    if (explored.tag == client.shown_tag && explored.exploration->only_by_layer) {
        side.too_long = client.asked;  // and is asked for again with the layer
    } else if (explored.tag == client.shown_tag) {
        side.shown = explored.exploration;
        side.answered = client.asked;
        client.exploring = !done;
    } else if (explored.tag == client.original_tag) {
        side.original = explored.exploration;
        side.answered_original = client.asked_original;
        client.exploring_original = !done;
    }
}

void Session::handle(Client& /*client*/, Side& /*side*/, const Measured& measured) {
    scene_.importance = measured.importance;
    measuring_ = !measured.importance->finished && measured.importance->problem.empty();
}

void Session::handle(Client& /*client*/, Side& /*side*/, const NeuronSeen& neuron) {
    scene_.neuron = neuron.view;
    neuron_tag_ = 0;
}

void Session::handle(Client& /*client*/, Side& /*side*/, const InsideSeen& inside) {
    const std::size_t view = index_of(inside.view->of.view);
    scene_.inside[view] = inside.view;
    asked_inside_[view].tag = 0;
}

void Session::handle(Client& /*client*/, Side& /*side*/, const WeightsRead& weights) {
    scene_.weights = weights.weights;
    weights_tag_ = 0;
}

void Session::handle(Client& /*client*/, Side& /*side*/, const RunRead& run) {
    scene_.run = run.run;
    scene_.experiment = run.experiment;
    run_problem_.clear();
}

// A failed side request does not change what is shown.
void Session::handle(Client& client, Side& side, const Failed& failed) {
    const bool main = &client == &main_;
    if (main && failed.tag == run_tag_) {  // it is read repeatedly: report the same error once
        if (std::exchange(run_problem_, failed.message) != failed.message) {
            report_error(failed.message);
        }
        return;
    }
    const auto inside = std::ranges::find(asked_inside_, failed.tag, &AskedInside::tag);
    if (main && inside != asked_inside_.end()) {  // the panel says it
        handle(client, side,
               InsideSeen{failed.tag, std::make_shared<const SeenInside>(
                                          SeenInside{*inside->request, Saliency{.problem = failed.message}})});
        return;
    }
    const bool opening = client.opening && failed.tag == client.open_tag;
    std::string message = failed.message;
    if (main && opening) {
        message += note_on_places(awaited_, settings_.recent_models, search_path_);
        refuse(message);
    } else {
        report_error(message);
    }
    if ((opening && !side.model.has_value()) || failed.tag == client.shown_tag || failed.tag == client.original_tag) {
        side.problem = message;
    }
    if (opening) {
        opening_failed(client);
    }
    client.exploring = client.exploring && failed.tag != client.shown_tag;
    client.exploring_original = client.exploring_original && failed.tag != client.original_tag;
    if (main) {  // the other worker has its own tags
        measuring_ = measuring_ && failed.tag != measure_tag_;
        neuron_tag_ = failed.tag == neuron_tag_ ? 0 : neuron_tag_;
        weights_tag_ = failed.tag == weights_tag_ ? 0 : weights_tag_;
    }
}

void Session::handle(Client& /*client*/, Side& /*side*/, const Warned& warned) {
    notify(warned.message);
}

// The previous model is still open.
void Session::opening_failed(Client& client) {
    client.opening = false;
    if (client.opened.has_value()) {
        client.open = *client.opened;
    }
    if (&client == &main_) {
        scene_.state.checkpoint = client.open.checkpoint;
        awaited_ = {};
        other_follows_ = false;
        if (other_.worker == nullptr) {  // it awaited this model
            end_comparison();
        }
    }
}

// Chooses the head and the word that say most of a new text, unless a head was chosen by hand. Of a picture all heads
// are shown.
void Session::choose_head() {
    ViewState& state = scene_.state;
    const Side& side = scene_.main;
    if (!follows_choice(state) || main_.opening || !side.model.has_value() || side.shown == nullptr ||
        !side.shown->finished || !side.shown->problem.empty() || !side.answered.has_value() ||
        state.chosen->text == side.answered->source || attentions_of(scene_).empty() || reading_of(scene_).pictures) {
        return;
    }
    state.chosen->text = side.answered->source;
    const AttentionKind kind = shown_kind(scene_);
    if (const auto found = most_telling(side.shown->record, kind, row_options(scene_)); found.has_value()) {
        state.chosen = {kind, found->site.layer + 1, found->head, side.answered->source};
        show_head(state, *found);
    } else {  // until the user chooses other heads than these
        const int head = state.heads.size() == 1 ? state.heads.front() : 0;
        state.chosen = {state.kind, state.layer, head, side.answered->source};
    }
    history_.amend(state);
}

// Drops results of another sentence or of other edits.
void Session::drop_stale() {
    if (measured_.has_value() && measured_ != main_.asked) {
        measured_.reset();
        scene_.importance.reset();
        measuring_ = false;
    }
    const Side& side = scene_.main;
    if (asked_neuron_.has_value() && !(side.shown != nullptr && side.shown->finished && side.answered.has_value() &&
                                       asked_neuron_->explore == with_target(*side.answered, *side.shown))) {
        asked_neuron_.reset();
        scene_.neuron.reset();
    }
}

}  // namespace headscope::viewer

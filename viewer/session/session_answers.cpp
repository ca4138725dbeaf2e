// What a session makes of its workers' answers.
#include <utility>

#include <fmt/format.h>

#include "explore/explorer.h"
#include "viewer/session/session.h"
#include "viewer/session/session_paths.h"

namespace headscope::viewer {

namespace {

// An answer that nothing more follows.
bool complete(const Exploration& exploration) {
    return exploration.finished || !exploration.problem.empty();
}

}  // namespace

void Session::take(Seat& seat, Side& side) {
    for (const News& news : seat.worker->poll()) {
        std::visit([&](const auto& one) { heard(seat, side, one); }, news);
    }
    side.busy = seat.opening || seat.exploring || seat.exploring_original;
    if (side.answered.has_value() && side.answered->edits.empty()) {
        side.original = side.shown;
        side.answered_original = side.answered;
    }
}

void Session::heard(Seat& seat, Side& side, const Opened& opened) {
    seat.opening = false;
    seat.opened = seat.open;
    side.model = opened;
    side.forget_answers();
    if (&seat != &main_) {
        return;
    }
    scene_.run = opened.run;
    run_problem_.clear();
    remember(settings_.recent_models, settings_file_.empty() ? opened.path : absolute_path(opened.path));
    const SavedView awaited = std::exchange(awaited_, {});
    if (awaited.parameters != 0 && awaited.parameters != opened.parameters) {
        complain(fmt::format("this view was saved with another model: {} had {} parameters, {} has {}",
                             awaited.model_name, awaited.parameters, opened.name, opened.parameters));
    }
}

void Session::heard(Seat& seat, Side& side, const Explored& explored) {
    const bool done = complete(*explored.exploration);
    if (explored.tag == seat.shown_tag) {
        side.shown = explored.exploration;
        side.answered = seat.asked;
        seat.exploring = !done;
    } else if (explored.tag == seat.original_tag) {
        side.original = explored.exploration;
        side.answered_original = seat.asked_original;
        seat.exploring_original = !done;
    }
}

void Session::heard(Seat& /*seat*/, Side& /*side*/, const Measured& measured) {
    scene_.importance = measured.importance;
    measuring_ = !measured.importance->finished && measured.importance->problem.empty();
}

void Session::heard(Seat& /*seat*/, Side& /*side*/, const NeuronSeen& neuron) {
    scene_.neuron = neuron.view;
    neuron_tag_ = 0;
}

void Session::heard(Seat& /*seat*/, Side& /*side*/, const WeightsRead& weights) {
    scene_.weights = weights.weights;
    weights_tag_ = 0;
}

void Session::heard(Seat& /*seat*/, Side& /*side*/, const RunRead& run) {
    scene_.run = run.run;
    run_problem_.clear();
}

// Where what was asked for besides fails, what is shown stays.
void Session::heard(Seat& seat, Side& side, const Failed& failed) {
    const bool main = &seat == &main_;
    if (main && failed.tag == run_tag_) {  // is read again soon, and says the same again
        if (std::exchange(run_problem_, failed.message) != failed.message) {
            complain(failed.message);
        }
        return;
    }
    complain(failed.message);
    const bool opening = seat.opening && failed.tag == seat.open_tag;
    if (opening || failed.tag == seat.shown_tag || failed.tag == seat.original_tag) {
        side.problem = failed.message;
    }
    if (opening) {
        opening_failed(seat);
    }
    seat.exploring = seat.exploring && failed.tag != seat.shown_tag;
    seat.exploring_original = seat.exploring_original && failed.tag != seat.original_tag;
    if (main) {  // the other worker counts its tags by itself
        measuring_ = measuring_ && failed.tag != measure_tag_;
        neuron_tag_ = failed.tag == neuron_tag_ ? 0 : neuron_tag_;
        weights_tag_ = failed.tag == weights_tag_ ? 0 : weights_tag_;
    }
}

void Session::heard(Seat& /*seat*/, Side& /*side*/, const Warned& warned) {
    tell(warned.message);
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

// What was found of another sentence, or with other edits, is not shown for this one.
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

// Which requests a session sends to its workers.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/family.h"
#include "model/model_directory.h"
#include "text/normalised.h"
#include "trees/penn_words.h"
#include "trees/tree_vocabulary.h"
#include "viewer/session/rows.h"
#include "viewer/session/session.h"
#include "viewer/session/shown.h"
#include "viewer/session/wording.h"

namespace headscope::viewer {

namespace {

// Why a side cannot answer a request; empty if it can.
std::string unanswerable(const Scene& scene, const Side& side) {
    const Architecture other = side.model->config.architecture;
    if (is_empty_text(scene.state.text)) {
        return wording(Reading(side.model->config)).nothing_read;
    }
    const Architecture family = scene.main.model.has_value() ? family_of(scene) : other;
    return other == family ? ""
                           : fmt::format("{} is a {} and cannot be compared with a {}: open two models of one family.",
                                         side.model->name, name_of(other), name_of(family));
}

// The sentence shown, or the whole text if the model does not split it.
std::string shown_text(const ViewState& state, const Opened& model) {
    const PartsOfText* parts = parts_of(state, model);
    return parts == nullptr ? state.text : parts->sentences[static_cast<std::size_t>(shown_sentence(state, *parts))];
}

}  // namespace

std::string text_for(const Opened& model, const std::string& text) {
    return model.terminals.has_value() ? fmt::format("{}", fmt::join(penn_words(text), " ")) : text;
}

ExploreRequest request_of(const Scene& scene, const Side& side) {
    const Opened& model = *side.model;
    ExploreRequest request = request_of(scene.state, model.config.architecture);
    request.source = text_for(model, shown_text(scene.state, model));
    request.most_weights = scene.most_weights;
    if (model.config.generation == Generation::MaskPredict) {  // its answer is why it shows only its map
        request.search.beam.reset();
        request.search.length_penalty.reset();
        request.search.length_penalty_form.reset();
    }
    if (model.terminals.has_value()) {
        request.search.max_extra = kExtraSymbols;
    }
    // Both sides of a comparison read the sentence that the main one chooses: each may split the text elsewhere.
    const std::optional<Opened>& main = scene.main.model;
    if (&side != &scene.main && !scene.state.second.empty()) {
        request.source = text_for(model, scene.state.second);
        request.target.reset();  // it is the first text's
    } else if (&side != &scene.main && main.has_value() && !model.terminals.has_value()) {
        request.source = shown_text(scene.state, *main);
    }
    if (side.too_long == request) {
        request.layer = shown_site(scene);
    }
    return request;
}

const PartsOfText* parts_of(const ViewState& state, const Opened& model) {
    return model.parts == nullptr ? nullptr
                                  : &model.parts->of(state.text, state.source_language, state.target_language);
}

int shown_sentence(const ViewState& state, const PartsOfText& parts) {
    return std::clamp(state.sentence, 0, static_cast<int>(parts.sentences.size()) - 1);
}

void Session::ask(Client& client, Side& side) {
    if (!side.model.has_value() || client.opening) {
        return;
    }
    if (const std::string why = unanswerable(scene_, side); !why.empty()) {
        side.forget_answers();
        forget_problem(side);
        side.problem = why;
        client.asked.reset();
        client.asked_original.reset();
        client.exploring = client.exploring_original = false;
        return;
    }
    const ExploreRequest wanted = request_of(scene_, side);
    if (client.asked != wanted) {
        forget_problem(side);
        client.asked = wanted;
        if (&client == &main_) {  // which cancels what was asked of the sentence before
            forget_inside();
        }
        client.shown_tag = client.worker->explore(wanted);
        client.exploring = true;
        side.busy = true;
    }
    const ExploreRequest plain = without_edits(wanted);
    if (!wanted.edits.empty() && client.asked_original != plain) {
        client.asked_original = plain;
        client.original_tag = client.worker->explore_original(plain);
        client.exploring_original = true;
        side.busy = true;
    } else if (wanted.edits.empty()) {
        client.asked_original.reset();
    }
}

// What neurons and importance are asked of.
std::optional<ExploreRequest> Session::ready_request() const {
    return main_.opening ? std::nullopt : found_request(scene_);
}

void Session::measure_importance() {
    const std::optional<ExploreRequest> found = ready_request();
    const Exploration* shown = scene_.main.shown.get();
    if (scene_.main.model.has_value() && attentions_of(scene_).empty()) {
        notify("This model has no attention, and so no heads to leave out.");
        return;
    }
    if (!found.has_value() || shown->steps.size() == shown->prompt) {
        notify(traits(family_of(scene_)).fills_masks && found.has_value()
                   ? "Mask a word first: the importance of heads is measured on what fills the masks."
                   : fmt::format("The importance of heads can be measured once there is a {}.", noun_of(scene_)));
        return;
    }
    measured_ = main_.asked;
    scene_.importance.reset();
    measure_tag_ = main_.worker->measure(*found);
    measuring_ = true;
}

void Session::ask_neuron() {
    const ViewState& state = scene_.state;
    if (state.panel != PanelId::Matrix || state.matrix != MatrixView::Head || state.word < 0) {
        return;
    }
    const std::optional<ExploreRequest> found = ready_request();
    if (!found.has_value()) {
        return;
    }
    NeuronRequest request{*found, shown_site(scene_), first_head(scene_)};
    const bool same = asked_neuron_.has_value() && asked_neuron_->explore == request.explore &&
                      asked_neuron_->site == request.site && asked_neuron_->head == request.head;
    if (!same) {
        asked_neuron_ = request;
        scene_.neuron.reset();
        neuron_tag_ = main_.worker->look_at_neuron(std::move(request));
    }
}

void Session::ask_inside(InsideView view) {
    if (scene_.state.panel != panel_with(view) || main_.opening) {
        return;
    }
    const std::optional<InsideRequest> wanted = inside_request(scene_, view);
    AskedInside& asked = asked_inside_[index_of(view)];
    if (wanted.has_value() && asked.request != wanted) {
        scene_.inside[index_of(view)].reset();
        asked = {wanted, main_.worker->look_inside(*wanted)};
    }
}

void Session::forget_inside() {
    asked_inside_ = {};
    scene_.inside = {};
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

}  // namespace headscope::viewer

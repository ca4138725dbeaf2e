#include "viewer/session/wording.h"

#include <algorithm>

#include "model/family.h"
#include "observe/family_labels.h"

namespace headscope::viewer {

namespace {

const Wording& translation() {
    static const Wording words{
        .input_hint = "Type a sentence: what every head looks at appears here",
        .nothing_read = "Type a sentence above.",
        .edit_input = "Edit the sentence",
        .output = "Target",
        .output_hint = "A translation for the model to read",
        .edit_output = "Edit the translation",
        .edit_tip = "Click to edit: how likely is another translation?",
        .own_tip = "Back to the model's own translation",
        .options_tip = "Beam, length penalty, pieces or words, model and device",
        .steps_title = "Time",
        .steps_remark =
            "Above: the translation token by token, and what else could have stood at the chosen place. Below: the "
            "beam as a tree; pointing at the end of a branch says why it ended.",
        .step_forward = "Next step of the decoding",
        .step_back = "Previous step of the decoding",
        .examples = {"The cat sleeps because it is tired.", "My sister gave me the book that she had read.",
                     "I would like to buy a ticket to Berlin, please.",
                     "It is in this spirit that a majority of American governments have passed new laws since 2009 "
                     "making the registration or voting process more difficult .",
                     "The Law will never be perfect , but its application should be just - this is what we are "
                     "missing , in my opinion ."}};
    return words;
}

const Wording& completion() {
    static const Wording words{
        .input_hint = "Type a prompt: the model continues it",
        .nothing_read = "Type a prompt above.",
        .edit_input = "Edit the prompt",
        .output = "Continuation",
        .output_hint = "A continuation for the model to read",
        .edit_output = "Edit the continuation",
        .edit_tip = "Click to edit: how likely is another continuation?",
        .own_tip = "Back to the model's own continuation",
        .options_tip = "Beam, length, pieces or words, model and device",
        .steps_title = "Time",
        .steps_remark =
            "The prompt and its continuation token by token, and what else could have stood at the chosen place. A "
            "beam of two or more is drawn as a tree below; pointing at the end of a branch says why it ended.",
        .step_forward = "Next token of the continuation",
        .step_back = "Previous token of the continuation",
        .examples = {"The cat sleeps because", "I would like to", "My sister gave me the book that", "In the beginning",
                     "Once upon a time"}};
    return words;
}

const Wording& filling() {
    static const Wording words{
        .input_hint = "Type a sentence, then click a word below to mask it",
        .nothing_read = "Type a sentence above.",
        .edit_input = "Edit the text",
        .output = "Words",
        .output_hint = "",
        .edit_output = nullptr,
        .edit_tip = "Click to mask this word",
        .own_tip = "",
        .options_tip = "Pieces or words, model and device",
        .steps_title = "Masks",
        .steps_remark =
            "What could stand at each mask. Click a masked word above to fill it in with the likeliest, or a bar to "
            "fill in another.",
        .step_forward = "Next mask",
        .step_back = "Previous mask",
        .examples = {"The cat sleeps because it is [MASK].", "My sister gave me the [MASK] that she had read.",
                     "I would like to buy a [MASK] to Berlin, please.", "The [MASK] is nice today.",
                     "He [MASK] the door and [MASK] in."}};
    return words;
}

constexpr const char* kNoPicture = "Choose a picture: drop a PNG or JPEG file on the window, or press Ctrl+O.";

const Wording& captioning() {
    static const Wording words = [] {
        Wording of = translation();
        of.input_hint = "The name of a PNG or JPEG file; it can be dropped on the window";
        of.nothing_read = kNoPicture;
        of.edit_input = "Edit the name of the picture";
        of.output = "Caption";
        of.output_hint = "A caption for the model to read";
        of.edit_output = "Edit the caption";
        of.edit_tip = "Click to edit: how likely is another caption?";
        of.own_tip = "Back to the model's own caption";
        of.steps_remark =
            "Above: the caption token by token, what else could have stood at the chosen place, and where on the "
            "picture the heads looked. Below: the beam as a tree; pointing at the end of a branch says why it ended.";
        of.examples.clear();
        of.given = "Picture";
        of.noun = "caption";
        return of;
    }();
    return words;
}

const Wording& classifying() {
    static const Wording words = [] {
        Wording of = captioning();
        of.output = "Class";
        of.output_hint = "";
        of.edit_output = nullptr;
        of.edit_tip = "The likeliest class";
        of.own_tip = "";
        of.options_tip = "Model and device";
        of.steps_title = "Classes";
        of.steps_remark = "The likeliest classes with their probabilities, and where the heads of a layer looked.";
        of.noun = "class";
        return of;
    }();
    return words;
}

}  // namespace

const Wording& wording(const Reading& reading) {
    const FamilyTraits& of = traits(reading.family);
    return !of.writes_pieces   ? classifying()
           : reading.pictures  ? captioning()
           : of.continues_text ? completion()
           : of.fills_masks    ? filling()
                               : translation();
}

const Wording& wording(const Scene& scene) {
    return wording(reading_of(scene));
}

const char* given_of(const Scene& scene) {
    const char* own = wording(scene).given;
    return own == nullptr ? traits(family_of(scene)).given : own;
}

const char* noun_of(const Scene& scene) {
    const char* own = wording(scene).noun;
    return own == nullptr ? traits(family_of(scene)).predicted_in : own;
}

std::string output_text(const Exploration& shown) {
    return shown.translation.substr(shown.translation.starts_with(' ') ? 1 : 0);
}

void show_example(ViewState& state, const Reading& reading) {
    const std::vector<std::string>& examples = wording(reading).examples;
    state.text = examples.empty() ? "" : examples.front();
    state.key = state.step = -1;
    state.word = &wording(reading) == &translation() ? kExampleWord : -1;
}

void fit_reading(ViewState& state, const std::optional<Reading>& before, const Reading& now) {
    if (before == now) {
        return;
    }
    if (before.has_value()) {
        state.target.reset();
        state.edits.clear();
        state.block.clear();
        state.word = state.key = state.step = -1;
        state.show_first = true;
    }
    if (before.has_value() && before->pictures != now.pictures) {
        show_example(state, now);
        state.heads.clear();
        state.chosen = state.chosen.has_value() ? std::optional(ChosenHead{}) : std::nullopt;
        return;
    }
    for (const FamilyTraits& other : families()) {
        const Wording& words = wording(other.architecture);
        const bool example =
            std::find(words.examples.begin(), words.examples.end(), state.text) != words.examples.end();
        if (example && &words != &wording(now)) {
            show_example(state, now);
            return;
        }
    }
}

}  // namespace headscope::viewer

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

}  // namespace

const Wording& wording(Architecture family) {
    const FamilyTraits& of = traits(family);
    return of.continues_text ? completion() : of.fills_masks ? filling() : translation();
}

const Wording& wording(const Scene& scene) {
    return wording(family_of(scene));
}

const char* noun_of(const Scene& scene) {
    return traits(family_of(scene)).predicted_in;
}

std::string output_text(const Exploration& shown) {
    return shown.translation.substr(shown.translation.starts_with(' ') ? 1 : 0);
}

void show_example(ViewState& state, Architecture family) {
    state.text = wording(family).examples.front();
    state.key = state.step = -1;
    state.word = traits(family).reads_source ? kExampleWord : -1;
}

void fit_family(ViewState& state, std::optional<Architecture> before, Architecture family) {
    if (before == family) {
        return;
    }
    if (before.has_value()) {
        state.target.reset();
        state.edits.clear();
        state.block.clear();
        state.word = state.key = state.step = -1;
        state.show_first = true;
    }
    for (const FamilyTraits& other : families()) {
        const Wording& words = wording(other.architecture);
        const bool example =
            std::find(words.examples.begin(), words.examples.end(), state.text) != words.examples.end();
        if (example && &words != &wording(family)) {
            show_example(state, family);
            return;
        }
    }
}

}  // namespace headscope::viewer

// What the window says of a model's texts, beyond its FamilyTraits. It follows the family of the loaded model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/session/scene.h"

namespace headscope::viewer {

struct Wording {
    const char* input_hint;    // of the empty field
    const char* nothing_read;  // instead of a result, without a text
    const char* edit_input;    // the command
    const char* output;        // the label of what the model writes
    const char* output_hint;   // of a field for an output of the user's own
    const char* edit_output;   // the command; null if an output cannot be given
    const char* edit_tip;
    const char* own_tip;
    const char* options_tip;
    const char* steps_title;  // of the Time panel
    const char* steps_remark;
    const char* step_forward;  // the commands
    const char* step_back;
    std::vector<std::string> examples;  // the first start shows the first
};

// Until a model is open: the words for a translation model.
const Wording& wording(Architecture family);
const Wording& wording(const Scene& scene);
const char* noun_of(const Scene& scene);            // what the model writes: "translation"
std::string output_text(const Exploration& shown);  // without the blank before a continuation

constexpr int kExampleWord = 4;  // "it" in the first example of translation

// The first text of a start without one.
void show_example(ViewState& state, Architecture family);
// After a model of `family` replaced one of `before`: resets what only the other family has, and replaces its examples.
void fit_family(ViewState& state, std::optional<Architecture> before, Architecture family);

}  // namespace headscope::viewer

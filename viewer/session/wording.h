// What the window says of a model's texts or pictures, beyond its FamilyTraits. It follows what the loaded model reads.
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
    std::vector<std::string> examples;  // the first start shows the first; none of pictures
    const char* given = nullptr;        // the label of what the model reads; null: the family's
    const char* noun = nullptr;         // what the model writes, within a sentence; likewise
};

// Until a model is open: the words for a translation model.
const Wording& wording(const Reading& reading);
const Wording& wording(const Scene& scene);
const char* given_of(const Scene& scene);           // what the model reads: "Source"
const char* noun_of(const Scene& scene);            // what the model writes: "translation"
std::string output_text(const Exploration& shown);  // without the blank before a continuation

constexpr int kExampleWord = 4;  // "it" in the first example of translation

// The first text of a start without one.
void show_example(ViewState& state, const Reading& reading);
// After a model that reads `now` replaced one that reads `before`: resets what only the other one has, and replaces its
// examples; all texts, if one of the two reads pictures.
void fit_reading(ViewState& state, const std::optional<Reading>& before, const Reading& now);

}  // namespace headscope::viewer

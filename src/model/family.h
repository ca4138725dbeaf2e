// The families of models, one row of facts each: what a family reads and writes, and what its parts are called wherever
// they are shown. Other rooms ask a row and never which family it is, so a new family is a row and its model.
#pragma once

#include <span>

#include "model/config.h"

namespace headscope {

// Attention that a family has.
struct KindTraits {
    AttentionKind kind;
    const char* name;     // of a choice between the family's kinds: "Encoder"
    const char* meaning;  // "the source looks at itself"
    const char* title;    // of figures: "Input-Input"
};

struct FamilyTraits {
    Architecture architecture;
    const char* key;      // in config.json: "encoder-decoder"
    const char* name;     // "translation model"
    const char* command;  // of headscope: "translate"
    const char* verb;     // what it does to a line: "translate", "fill in"

    bool reads_source;    // through an encoder; what it writes is another text
    bool continues_text;  // its output follows the text that it reads
    bool fills_masks;     // its output replaces the masks of the text that it reads
    bool writes_pieces;   // it has a vocabulary to write

    const char* given;          // the text that a user gives: "Source"
    const char* predicted;      // what the model makes of it: "Target"
    const char* given_in;       // the same within a sentence: "source sentence"
    const char* predicted_in;   // "translation"
    const char* given_key;      // and in JSON: "source"
    const char* predicted_key;  // "translation"
    const char* likelihood;     // the sum of a text's scores: "log P"
    const char* likelihood_key;

    std::span<const KindTraits> kinds;  // the first is shown without a choice
};

std::span<const FamilyTraits> families();
const FamilyTraits& traits(Architecture architecture);
inline const char* name_of(Architecture architecture) {
    return traits(architecture).name;
}

}  // namespace headscope

// The options that every command that translates has.
#pragma once

#include <string>

#include "backend/open_options.h"
#include "infer/decoding_choices.h"
#include "infer/translator.h"
#include "options/precision_option.h"

namespace CLI {
class App;
}

namespace headscope {

struct TranslationFlags {
    OpenOptions open_options;
    std::string device;  // empty: see open_device
    bool greedy = false;
    Precision precision = Precision::F32;
    DecodingChoices choices;     // what was given; goes before what the model wants
    TranslationOptions options;  // all else
};

// All but --model, of which some commands take several. `several`: what --device says of several devices, where the
// command takes them.
void add_search_flags(CLI::App& command, TranslationFlags& flags, const std::string& several = "");

// What the flags say together, and the model where they leave it open; `compute` is the device's. Error for what is not
// possible.
TranslationOptions translation_options(const TranslationFlags& flags, const DecodingChoices& model, Compute compute);

}  // namespace headscope

// The options of every command that translates.
#pragma once

#include "engine/open_model.h"
#include "infer/decoding_choices.h"
#include "options/common_options.h"

namespace CLI {
class App;
}

namespace headscope {

struct TranslationFlags {
    CommonOptions common;
    bool greedy = false;
    DecodingChoices choices;  // given on the command line; takes precedence over the model's
};

// --greedy, --beam and so on. `of_requests`: also those that no model's author may choose, such as --n-best.
void add_search_flags(CLI::App& command, TranslationFlags& flags, bool of_requests);

// The flags, with the model's choices as defaults; `compute` is the device's. Error if they contradict each other.
// Error also for those that mean nothing to the model.
DecodingOptions translation_options(const TranslationFlags& flags, const OpenModel& model, Compute compute);
DecodingOptions translation_options(const TranslationFlags& flags, const DecodingChoices& model, Compute compute);

}  // namespace headscope

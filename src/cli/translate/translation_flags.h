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
    DecodingOptions options;  // everything else
};

// --no-repeat-ngram and the others that commands for translating and completing share.
void add_content_flags(CLI::App& command, DecodingChoices& choices);
// --beam, --length-penalty and so on.
void add_search_flags(CLI::App& command, TranslationFlags& flags);

// The flags, with the model's choices as defaults; `compute` is the device's. Error if they contradict each other.
// Error also for those that mean nothing to the model.
DecodingOptions translation_options(const TranslationFlags& flags, const OpenModel& model, Compute compute);
DecodingOptions translation_options(const TranslationFlags& flags, const DecodingChoices& model, Compute compute);

}  // namespace headscope

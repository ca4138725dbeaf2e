// --source-language and --target-language of commands that read sentences to translate.
#pragma once

#include "infer/decoding_choices.h"

namespace CLI {
class App;
}

namespace headscope {

void add_language_options(CLI::App& command, DecodingChoices& choices);

}  // namespace headscope

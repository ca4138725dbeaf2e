// Decoding options as command-line options, from their table (infer/decoding_keys.h).
#pragma once

#include <initializer_list>

#include "infer/decoding_choices.h"
#include "infer/decoding_keys.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

// A flag sets `choices`, which must outlive the command. `writers`: who the command is for.
CLI::Option* add_decoding_flag(CLI::App& command, DecodingChoices& choices, const DecodingKey& key, unsigned writers);
void add_decoding_flags(CLI::App& command, DecodingChoices& choices, std::initializer_list<const char*> keys,
                        unsigned writers = kTranslation);
// Every key that means something to the writers and has a flag. `of_requests`: also what no model's author may choose.
void add_decoding_flags(CLI::App& command, DecodingChoices& choices, unsigned writers, bool of_requests);

}  // namespace headscope

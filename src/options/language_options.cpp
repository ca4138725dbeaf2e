#include "options/language_options.h"

#include <CLI/CLI.hpp>

#include "options/option_values.h"

namespace headscope {

void add_language_options(CLI::App& command, DecodingChoices& choices) {
    command
        .add_option("--source-language", choices.source_language, "Language of the sources, for a model that needs it")
        ->check(not_empty)
        ->default_str("the model's decoding.json");
    command
        .add_option("--target-language", choices.target_language,
                    "Language of the translations, for a model that needs it")
        ->check(not_empty)
        ->default_str("the model's decoding.json");
}

}  // namespace headscope

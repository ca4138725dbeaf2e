#include "cli/translate/translation_flags.h"

#include <CLI/CLI.hpp>

#include "options/decoding_flags.h"
#include "support/usage_error.h"

namespace headscope {

void add_search_flags(CLI::App& command, TranslationFlags& flags, bool of_requests) {
    command.option_defaults()->group("Decoding");
    CLI::Option* greedy = command.add_flag("--greedy", flags.greedy,
                                           "Take the most likely piece each time; the fastest, same as --beam 1");
    add_decoding_flags(command, flags.choices, kTranslation, of_requests);
    for (const char* other : {"--beam", "--n-best", "--sample"}) {
        if (CLI::Option* option = command.get_option_no_throw(other)) {
            greedy->excludes(option);
        }
    }
}

DecodingOptions translation_options(const TranslationFlags& flags, const OpenModel& model, Compute compute) {
    const ModelConfig& config = model.directory().config;
    check_choices(flags.choices, config);
    if (flags.greedy && config.generation != Generation::LeftToRight) {
        throw UsageError(
            "--greedy is for models that write from left to right, but \"generation\" is \"mask_predict\": leave it "
            "out");
    }
    return translation_options(flags, model.choices(), compute);
}

DecodingOptions translation_options(const TranslationFlags& flags, const DecodingChoices& model, Compute compute) {
    DecodingOptions options = flags.choices.applied_to(model.applied_to({}));
    options.warn_unsplit = flags.choices.split_longer_than.has_value();  // not if the model chose it
    options.search.beam = flags.greedy ? 1 : options.search.beam;
    options.compute = compute;
    check_search_options(options.search);
    return options;
}

}  // namespace headscope

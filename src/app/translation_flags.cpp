#include "app/translation_flags.h"

#include <CLI/CLI.hpp>

namespace headscope {

void add_translation_flags(CLI::App& command, TranslationFlags& flags) {
    command.add_option("--model", flags.model, "Model directory; without it HEADSCOPE_MODEL or the en-de model");
    add_search_flags(command, flags);
}

void add_search_flags(CLI::App& command, TranslationFlags& flags) {
    command.add_option("--device", flags.device, "cpu, cuda, vulkan, vulkan:1, ...; see headscope devices");
    CLI::Option* beam = command.add_option("--beam", flags.options.search.beam, "Hypotheses kept for each sentence")
                            ->check(CLI::Range(1, SearchOptions::kMaxBeam))
                            ->capture_default_str();
    command.add_flag("--greedy", flags.greedy, "The likeliest piece each time: beam 1, fastest")->excludes(beam);
    command
        .add_option("--length-penalty", flags.options.search.length_penalty,
                    "Scores are log P / ((5 + length) / 6)^this; 0 favours short translations")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        .add_option("--length-penalty-form", flags.length_penalty_form,
                    "gnmt, as above, or power: log P / length^--length-penalty")
        ->check(CLI::IsMember({"gnmt", "power"}))
        ->capture_default_str();
    command
        .add_option("--max-extra", flags.options.search.max_extra,
                    "A translation has at most this many pieces more than its source")
        ->check(CLI::Range(0, 100'000))
        ->capture_default_str();
    command
        .add_option("--no-repeat-ngram", flags.options.search.no_repeat_ngram,
                    "No sequence of so many pieces stands twice in a translation; 0 allows any")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    command
        .add_option("--split-longer-than", flags.options.split_longer_than,
                    "A line of more pieces is translated sentence by sentence; without it: more than the model takes; "
                    "0: such a line is refused")
        ->check(CLI::Range(0, 1'000'000));
    command
        .add_option("--batch-tokens", flags.options.batch_tokens,
                    "Source pieces translated at a time: more is faster and takes more memory")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    add_precision_option(
        command, flags.precision,
        "f32 (default), tf32, bf16 or f16: what numbers are stored and multiplied in, where the device "
        "has it; f16 where it has not: the weights alone; i8: the weights alone, in products of I8");
}

TranslationOptions translation_options(const TranslationFlags& flags, const Backend& backend) {
    TranslationOptions options = flags.options;
    if (flags.greedy) {
        options.search.beam = 1;
    }
    options.search.length_penalty_form =
        flags.length_penalty_form == "power" ? LengthPenaltyForm::Power : LengthPenaltyForm::Gnmt;
    options.compute = chosen_arithmetic(backend, flags.precision).compute;
    check_search_options(options.search);
    return options;
}

}  // namespace headscope

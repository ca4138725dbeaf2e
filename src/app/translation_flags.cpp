#include "app/translation_flags.h"

namespace headscope {

void add_translation_flags(CLI::App& command, TranslationFlags& flags) {
    command.add_option("--model", flags.model, "Model directory; without it HEADSCOPE_MODEL or the en-de model");
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
        .add_option("--max-extra", flags.options.search.max_extra,
                    "A translation has at most this many pieces more than its source")
        ->check(CLI::Range(0, 100'000))
        ->capture_default_str();
    command
        .add_option("--batch-tokens", flags.options.batch_tokens,
                    "Source pieces translated at a time: more is faster and takes more memory")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    add_precision_option(
        command, flags.precision,
        "f32 (default), tf32, bf16 or f16: what numbers are stored and multiplied in, where the device "
        "has it");
}

TranslationOptions translation_options(const TranslationFlags& flags, const Backend& backend) {
    TranslationOptions options = flags.options;
    if (flags.greedy) {
        options.search.beam = 1;
    }
    options.compute = chosen_arithmetic(backend, flags.precision).compute;
    check_search_options(options.search);
    return options;
}

}  // namespace headscope

#include "cli/translate/translation_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "options/option_values.h"

namespace headscope {

namespace {

// Help says what holds where nobody chose.
template <class Value>
std::string open_choice(const char* what, const Value& fallback) {
    return fmt::format("{} (default: the model's decoding.json, or {})", what, fallback);
}

}  // namespace

void add_search_flags(CLI::App& command, TranslationFlags& flags, const std::string& several) {
    command
        .add_option("--device", flags.device, "cpu, cuda, vulkan, vulkan:1, ...; " + several + "see headscope devices")
        ->check(something);
    const SearchOptions fallback;
    DecodingChoices& choices = flags.choices;
    CLI::Option* beam =
        command.add_option("--beam", choices.beam, open_choice("Hypotheses kept for each sentence", fallback.beam))
            ->check(whole_number(1, SearchOptions::kMaxBeam));
    command.add_flag("--greedy", flags.greedy, "The likeliest piece each time: beam 1, fastest")->excludes(beam);
    command
        .add_option("--length-penalty", choices.length_penalty,
                    open_choice("Scores are log P / ((5 + length) / 6)^this; 0 favours short translations",
                                fallback.length_penalty))
        ->check(real_number(0.0, SearchOptions::kMaxLengthPenalty));
    command
        .add_option_function<std::string>(
            "--length-penalty-form",
            [&choices](const std::string& name) {
                choices.length_penalty_form =
                    name == kLengthPenaltyForms[1] ? LengthPenaltyForm::Power : LengthPenaltyForm::Gnmt;
            },
            open_choice("gnmt, as above, or power: log P / length^--length-penalty", kLengthPenaltyForms[0]))
        ->check(CLI::IsMember({kLengthPenaltyForms[0], kLengthPenaltyForms[1]}));
    command
        .add_option("--max-extra", choices.max_extra,
                    open_choice("A translation has at most this many pieces more than its source", fallback.max_extra))
        ->check(whole_number(0, SearchOptions::kMaxExtra));
    command
        .add_option("--no-repeat-ngram", choices.no_repeat_ngram,
                    open_choice("No sequence of so many pieces stands twice in a translation; 0 allows any",
                                fallback.no_repeat_ngram))
        ->check(whole_number(0, SearchOptions::kMaxNoRepeatNgram));
    command
        .add_option(
            "--min-length", choices.min_length,
            open_choice("A translation has at least this many pieces; 0 allows an empty one", fallback.min_length))
        ->check(whole_number(0, SearchOptions::kMaxMinLength));
    command
        .add_option("--split-longer-than", choices.split_longer_than,
                    open_choice("A line of more pieces is translated sentence by sentence; 0: none is, and one of more "
                                "than the model takes is refused",
                                "what the model takes"))
        ->check(whole_number(0, DecodingChoices::kMaxSplit));
    command
        .add_option(
            "--batch-tokens", flags.options.batch_tokens,
            "Source pieces translated at a time, lengths counted in eights: more is faster and takes more memory")
        ->check(whole_number(1, 10'000'000))
        ->capture_default_str();
    add_precision_option(
        command, flags.precision,
        "f32 (default), tf32, bf16 or f16: what numbers are stored and multiplied in, where the device "
        "has it; f16 where it has not: the weights alone; i8: the weights alone, in products of I8");
}

TranslationOptions translation_options(const TranslationFlags& flags, const DecodingChoices& model, Compute compute) {
    TranslationOptions options = flags.options;
    options.search = flags.choices.over(model.over(options.search));
    options.split_longer_than =
        flags.choices.split_longer_than ? flags.choices.split_longer_than : model.split_longer_than;
    options.tells_unsplit = flags.choices.split_longer_than.has_value();  // not what the model's author chose
    if (flags.greedy || options.search.sampling) {
        options.search.beam = 1;
    }
    options.compute = compute;
    check_search_options(options.search);
    return options;
}

}  // namespace headscope

#include "cli/translate/translation_flags.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "options/language_options.h"
#include "options/option_values.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

// For --help: the default of an option that the model may set.
template <class Value>
std::string model_or(const Value& fallback) {
    return fmt::format("the model's decoding.json, or {}", fallback);
}

}  // namespace

void add_content_flags(CLI::App& command, DecodingChoices& choices) {
    const SearchOptions fallback;
    command
        .add_option("--no-repeat-ngram", choices.no_repeat_ngram,
                    "Never repeat a sequence of this many pieces, a prompt's among them; 0: off")
        ->check(whole_number(0, SearchOptions::kMaxNoRepeatNgram))
        ->default_str(model_or(fallback.no_repeat_ngram));
    command
        .add_option("--repetition-penalty", choices.repetition_penalty,
                    "Above 1, makes pieces that were written, or are in the prompt, less likely")
        ->check(real_number(0.001, SearchOptions::kMaxRepetitionPenalty))
        ->default_str(model_or(fallback.repetition_penalty));
    command
        .add_option_function<std::string>(
            "--early-stopping",
            [&choices](const std::string& name) {
                choices.stopping = static_cast<Stopping>(std::find(std::begin(kStoppings), std::end(kStoppings), name) -
                                                         std::begin(kStoppings));
            },
            "When a beam search stops: exact, or as Hugging Face's with true, false or never")
        ->check(CLI::IsMember(std::vector<std::string>(std::begin(kStoppings), std::end(kStoppings))))
        ->default_str(model_or(kStoppings[0]));
}

void add_search_flags(CLI::App& command, TranslationFlags& flags) {
    command.option_defaults()->group("Decoding");
    const SearchOptions fallback;
    DecodingChoices& choices = flags.choices;
    CLI::Option* beam = command.add_option("--beam", choices.beam, "Hypotheses kept for each sentence")
                            ->check(whole_number(1, SearchOptions::kMaxBeam))
                            ->default_str(model_or(fallback.beam));
    command.add_flag("--greedy", flags.greedy, "Take the most likely piece each time; the fastest, same as --beam 1")
        ->excludes(beam);
    command
        .add_option("--length-penalty", choices.length_penalty,
                    "Exponent a of the score log P / ((5 + length) / 6)^a; 0 favours short translations")
        ->check(real_number(0.0, SearchOptions::kMaxLengthPenalty))
        ->default_str(model_or(fallback.length_penalty));
    command
        .add_option_function<std::string>(
            "--length-penalty-form",
            [&choices](const std::string& name) {
                choices.length_penalty_form =
                    name == kLengthPenaltyForms[1] ? LengthPenaltyForm::Power : LengthPenaltyForm::Gnmt;
            },
            "gnmt: the score above; power: log P / length^a")
        ->check(CLI::IsMember({kLengthPenaltyForms[0], kLengthPenaltyForms[1]}))
        ->default_str(model_or(kLengthPenaltyForms[0]));
    command
        .add_option("--max-extra", choices.max_extra, "Maximum pieces of a translation beyond the length of its source")
        ->check(whole_number(0, SearchOptions::kMaxExtra))
        ->default_str(model_or(fallback.max_extra));
    command.add_option("--max-length", choices.max_length, "Maximum pieces of a translation; 0: any number")
        ->check(whole_number(0, SearchOptions::kMaxLength))
        ->default_str(model_or(fallback.max_length));
    command
        .add_option("--max-factor", choices.max_factor,
                    "Maximum pieces of a translation for each piece of its source; 0: any number")
        ->check(real_number(0.0, SearchOptions::kMaxFactor))
        ->default_str(model_or(fallback.max_factor));
    command.add_flag_callback(
        "--force-end", [&choices] { choices.force_end = true; },
        "End a translation of maximum length with the end of sentence instead of cutting it");
    command.add_flag_callback(
        "--allow-unknown", [&choices] { choices.allow_unknown = true; }, "Allow the unknown piece in translations");
    command.add_option("--min-length", choices.min_length, "Minimum pieces of a translation")
        ->check(whole_number(0, SearchOptions::kMaxMinLength))
        ->default_str(model_or(fallback.min_length));
    command.add_option("--iterations", choices.iterations, "Mask-predict iterations")
        ->check(whole_number(1, SearchOptions::kMaxIterations))
        ->default_str(model_or(fallback.iterations));
    command.add_option("--lengths", choices.length_candidates, "Candidate lengths (mask-predict)")
        ->check(whole_number(1, SearchOptions::kMaxLengthCandidates))
        ->default_str(model_or(fallback.length_candidates));
    add_content_flags(command, choices);
    command
        .add_option("--split-longer-than", choices.split_longer_than,
                    "Translate a line of more pieces sentence by sentence; 0: never, lines too long are errors")
        ->check(whole_number(0, DecodingChoices::kMaxSplit))
        ->default_str(model_or("the model's longest input"));
    add_language_options(command, choices);
    command
        .add_option("--batch-tokens", flags.options.batch_tokens,
                    "Source pieces translated at a time; more is faster and takes more memory")
        ->check(whole_number(1, 10'000'000))
        ->capture_default_str();
}

DecodingOptions translation_options(const TranslationFlags& flags, const OpenModel& model, Compute compute) {
    const Generation generation = model.directory().config.generation;
    check_choices(flags.choices, generation);
    if (flags.greedy && generation != Generation::LeftToRight) {
        throw UsageError(
            "--greedy is for models that write from left to right, but \"generation\" is \"mask_predict\": leave it "
            "out");
    }
    return translation_options(flags, model.choices(), compute);
}

DecodingOptions translation_options(const TranslationFlags& flags, const DecodingChoices& model, Compute compute) {
    DecodingOptions options = flags.options;
    options.search = flags.choices.over(model.over(options.search));
    options.split_longer_than =
        flags.choices.split_longer_than ? flags.choices.split_longer_than : model.split_longer_than;
    options.warn_unsplit = flags.choices.split_longer_than.has_value();  // not if the model chose it
    if (flags.greedy || options.search.sampling) {
        options.search.beam = 1;
    }
    options.compute = compute;
    check_search_options(options.search);
    return options;
}

}  // namespace headscope

// headscope fill: what may stand at the masked words of a text.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "answers/word_json.h"
#include "cli/command.h"
#include "cli/opened_engine.h"
#include "infer/filler.h"
#include "infer/gap_filler.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct FillOptions {
    CommonOptions common;
    std::string text;
    std::string mask = kMaskText;
    int top = 5;
    bool one_by_one = false;
};

std::string row_of(double log_probability, const std::string& word) {
    constexpr double kPercent = 100.0;
    return fmt::format("  {:5.1f} %  {}\n", kPercent * std::exp(log_probability), word);
}

std::string rows_of(const Tokenizer& tokenizer, const MaskedPosition& mask) {
    std::string text;
    for (const Candidate& candidate : mask.candidates) {
        text += row_of(candidate.log_probability, word_of(tokenizer, candidate));
    }
    return text;
}

std::string rows_of(const Tokenizer&, const std::vector<GapCandidate>& gap) {
    std::string text;
    for (const GapCandidate& candidate : gap) {
        text += row_of(candidate.log_probability, word_of(candidate));
    }
    return text;
}

// The text as it is filled, and each mask's candidates.
template <class Mask>
std::string printed(const Tokenizer& tokenizer, const std::string& filled, const std::vector<Mask>& masks) {
    std::string text = filled + "\n";
    for (std::size_t i = 0; i < masks.size(); ++i) {
        text += masks.size() > 1 ? fmt::format("mask {}\n", i + 1) : "";
        text += rows_of(tokenizer, masks[i]);
    }
    return text;
}

void fill(const FillOptions& options) {
    OpenedEngine opened(options.common, {options.common.model_path()});
    const bool writes_gaps = fills_gaps(opened.directory());
    if (writes_gaps && options.one_by_one) {
        throw UsageError(
            "--one-by-one is for models that fill in single pieces: this one writes all gaps in one pass; leave "
            "it out");
    }
    if (opened.directory().config.output.head != OutputHead::Vocabulary) {
        log_line("headscope: this model was made to score texts: what it fills in may mean nothing");
    }
    const FillAnswer filled = opened.ask(FillRequest{options.text, options.mask, options.top, options.one_by_one});
    const Tokenizer& tokenizer = *opened.directory().target_tokenizer;
    write_output(options.common.json ? json_row(fill_json(tokenizer, options.text, filled))
                 : writes_gaps       ? printed(tokenizer, filled.text, filled.gaps)
                                     : printed(tokenizer, filled.text, filled.masks));
    if (std::find(filled.ids.begin(), filled.ids.end(), tokenizer.unk_id()) != filled.ids.end()) {
        log_line("headscope: the text has characters that are not in the model's vocabulary");
    }
}

}  // namespace

void add_fill_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<FillOptions>();
    options->common.open = open_options;
    options->common.bundled_model = kMaskedModel;
    CLI::App* command =
        app.add_subcommand("fill", "Fill in masked words with a masked language model or T5")->group("Language models");
    command->footer(
        "Prints the text with the likeliest word at each mask, and for each mask the likeliest words. A span model "
        "(T5)\n"
        "writes several words for each mask or sentinel, <extra_id_0>.\n\n"
        "Examples:\n"
        "  headscope fill 'She opened the [MASK] and looked outside.'\n"
        "  headscope fill --model out/masked --one-by-one --top 3 'The [MASK] [MASK] sleeps.'");
    command->option_defaults()->group("Data");
    command->add_option("TEXT", options->text, "The text, with a mask at each word to fill in")->required();
    command->add_option("--mask", options->mask, "What stands for a masked word")
        ->check(not_empty)
        ->capture_default_str();
    options->common.add_model(*command);
    options->common.add_device(*command);
    options->common.add_precision(*command);
    command->option_defaults()->group("Output");
    command->add_option("--top", options->top, "Words to print for each mask")
        ->check(whole_number(1, Filler::kMostCandidates))
        ->capture_default_str();
    command->add_flag("--one-by-one", options->one_by_one,
                      "Fill in the most certain mask first, and predict the others from it");
    options->common.add_json(*command);
    command->callback([options] { fill(*options); });
}

}  // namespace headscope

// headscope compare: whether two devices translate alike.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/translation_flags.h"
#include "data/corpus.h"
#include "eval/compare_translations.h"
#include "infer/model_lookup.h"
#include "infer/translator.h"
#include "registry/registry.h"
#include "support/check.h"
#include "text/lines.h"

namespace headscope {
namespace {

struct CompareOptions {
    std::string model;
    std::string device, with = "cpu";
    std::string tsv;
    std::string input = "-";
    std::size_t limit = 0;
    double tie = 1e-4;
    Precision precision = Precision::F32;
    TranslationFlags translation;
};

// One of the two devices and what it makes of the text.
struct Side {
    Side(const std::string& device, const std::string& model, const TranslationFlags& flags)
        : backend(open_device(device)),
          options(translation_options(flags, *backend)),
          name(backend->device().id +
               (flags.precision == Precision::F32 ? "" : std::string(" in ") + name_of(flags.precision))),
          translator(*backend, model, chosen_arithmetic(*backend, flags.precision).storage) {}
    TranslatingSide view() const { return {*backend, translator, sentences, options.compute}; }

    std::unique_ptr<Backend> backend;
    TranslationOptions options;
    std::string name;
    Translator translator;
    std::vector<TranslatedSentence> sentences;
};
using Sides = std::array<Side, 2>;

std::vector<std::string> read_text(const CompareOptions& options) {
    std::vector<std::string> lines = options.tsv.empty()
                                         ? read_lines(options.input == "-" ? "/dev/stdin" : options.input)
                                         : read_tsv(options.tsv).source;
    if (options.limit > 0 && lines.size() > options.limit) {
        lines.resize(options.limit);
    }
    return lines;
}

std::string describe(const Difference& difference, const Sides& sides, const std::string& source, double tie) {
    const Tokenizer& tokenizer = *sides[0].translator.model().target_tokenizer;
    std::string text = fmt::format("\nsentence {}, target token {}: {}, gap {:.2g}\n    source  {}\n",
                                   difference.sentence + 1, difference.parting.position + 1,
                                   difference.gap <= tie ? "a tie" : "DIFFERENT", difference.gap, source);
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const std::optional<std::int32_t> token = difference.parting.candidates[i];
        text += fmt::format("    {} chose {}: log P {:.7f} on {}, {:.7f} on {}\n", sides[i].name,
                            token ? tokenizer.piece(*token) : "nothing", difference.by_device[0][i], sides[0].name,
                            difference.by_device[1][i], sides[1].name);
    }
    return text;
}

void print(const Agreement& agreement, const Sides& sides, const std::vector<std::string>& lines, double tie) {
    const std::size_t ties = agreement.ties(tie);
    write_output(fmt::format(
        "{} and {} translate {} of {} sentences identically (greedy); {} differ by a tie (gap at most {:g}), {} by "
        "more\nlog P of an identical translation differs by {:.2g} at most\n",
        sides[0].name, sides[1].name, agreement.identical, agreement.sentences(), ties, tie,
        agreement.differences.size() - ties, agreement.score_drift));
    for (const Difference& difference : agreement.differences) {
        write_output(describe(difference, sides, lines[difference.sentence], tie));
    }
}

std::size_t report_problems(const Side& side) {
    std::size_t problems = 0;
    for (std::size_t i = 0; i < side.sentences.size(); ++i) {
        if (!side.sentences[i].problem.empty()) {
            ++problems;
            tell(fmt::format("headscope: sentence {}: {}", i + 1, side.sentences[i].problem));
        }
    }
    return problems;
}

void compare(const CompareOptions& options) {
    const std::vector<std::string> lines = read_text(options);
    const std::string model = find_model(options.model);
    TranslationFlags flags = options.translation;
    flags.greedy = true;
    flags.options.split_longer_than = 0;  // differences are followed in whole lines
    TranslationFlags rounded = flags;
    rounded.precision = options.precision;
    Sides sides{Side(options.device, model, rounded), Side(options.with, model, flags)};
    if (sides[0].name == sides[1].name) {
        throw Error(fmt::format("both devices are {}, which agrees with itself: name another by --device or --with",
                                sides[0].name));
    }
    for (Side& side : sides) {
        side.sentences = side.translator.translate(lines, side.options);
    }
    const std::size_t problems = report_problems(sides[0]);
    const Agreement agreement = compare_translations({sides[0].view(), sides[1].view()});
    if (agreement.sentences() == 0) {
        throw Error("there is no sentence to compare the devices by: give lines of text, or --tsv FILE");
    }
    print(agreement, sides, lines, options.tie);
    if (problems > 0) {
        throw Error(fmt::format("{} of {} sentences were not translated, and not compared", problems, lines.size()));
    }
    if (!agreement.holds(options.tie)) {
        throw Error(fmt::format("{} of {} sentences differ by more than a tie",
                                agreement.differences.size() - agreement.ties(options.tie), agreement.sentences()));
    }
}

}  // namespace

void add_compare_command(CLI::App& app) {
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command = app.add_subcommand("compare", "Hold one device's translations against another's");
    command->footer(
        "Both translate greedily. Where two outputs part, both devices score the two tokens that they chose between,\n"
        "after the same tokens before: a gap that rounding explains is a tie. Anything more makes the exit code 1.\n\n"
        "Examples:\n"
        "  headscope compare --device vulkan assets/examples/everyday.en\n"
        "  headscope compare --device vulkan:1 --with vulkan:0 --tsv test.tsv --limit 500\n"
        "  headscope compare --device cpu --with cpu:oracle < text.en\n"
        "  headscope compare --device cpu --precision bf16 --with cpu < text.en");
    CLI::Option* input =
        command->add_option("FILE", options->input, "UTF-8 text, one sentence a line; - is standard input")
            ->capture_default_str();
    command->add_option("--tsv", options->tsv, "\"source TAB target\" lines, plain or gzip; the source is translated")
        ->excludes(input);
    command->add_option("--model", options->model, "Model directory; without it HEADSCOPE_MODEL or the en-de model");
    command->add_option("--device", options->device, "cpu, cuda, vulkan, vulkan:1, ...; see headscope devices");
    command->add_option("--with", options->with, "The device to hold it against")->capture_default_str();
    command->add_option("--limit", options->limit, "Only the first so many sentences");
    command->add_option("--tie", options->tie, "Gap of log probabilities that rounding may explain")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        ->add_option("--max-extra", options->translation.options.search.max_extra,
                     "A translation has at most this many pieces more than its source")
        ->check(CLI::Range(0, 100'000))
        ->capture_default_str();
    command
        ->add_option("--batch-tokens", options->translation.options.batch_tokens, "Source pieces translated at a time")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    add_precision_option(*command, options->precision,
                         "Of the first device alone: f32 (default), tf32, bf16, f16 or i8; what does that change?");
    command->callback([options] { compare(*options); });
}

}  // namespace headscope

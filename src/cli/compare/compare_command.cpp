// headscope compare: whether two devices translate alike.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/compare/compare_report.h"
#include "cli/compare/compared_side.h"
#include "cli/translate/translation_flags.h"
#include "data/corpus.h"
#include "engine/model_device.h"
#include "infer/model_lookup.h"
#include "io/input_files.h"
#include "options/option_values.h"
#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/counted.h"
#include "text/lines.h"

namespace headscope {
namespace {

struct CompareOptions {
    std::string model;
    std::string device, with;
    std::string devices;
    std::size_t look = 50;
    bool json = false;
    std::string tsv;
    std::string input = "-";
    std::size_t limit = 0;
    double tie = 1e-4;
    Precision precision = Precision::F32;
    TranslationFlags translation;
};

using Sides = std::array<const ComparedSide*, 2>;  // the one, and what it is held against

const Settings& settings_of(const CompareOptions& options) {
    return options.translation.open_options.settings;
}

std::vector<std::string> read_text(const CompareOptions& options) {
    std::vector<std::string> lines = options.tsv.empty() ? read_lines(options.input) : read_tsv(options.tsv).source;
    if (options.limit > 0 && lines.size() > options.limit) {
        lines.resize(options.limit);
    }
    return lines;
}

std::string describe(const Difference& difference, const Sides& sides, const std::string& source, double tie) {
    const Tokenizer& tokenizer = *sides[0]->translator().model().target_tokenizer;
    std::string text = fmt::format("\nsentence {}, target token {}: {}, gap {:.2g}\n    source  {}\n",
                                   difference.sentence + 1, difference.parting.position + 1,
                                   difference.gap <= tie ? "a tie" : "DIFFERENT", difference.gap, source);
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const std::optional<std::int32_t> token = difference.parting.candidates[i];
        text += fmt::format("    {} chose {}: log P {:.7f} on {}, {:.7f} on {}\n", sides[i]->name(),
                            token ? tokenizer.piece(*token) : "nothing", difference.by_device[0][i], sides[0]->name(),
                            difference.by_device[1][i], sides[1]->name());
    }
    return text;
}

void print(const Agreement& agreement, const Sides& sides, const std::vector<std::string>& lines, double tie) {
    const std::size_t ties = agreement.ties(tie);
    write_output(
        fmt::format("{} and {} translate {} of {} identically (greedy); {} differ by a tie (gap at most {:g}), {} by "
                    "more\nlog P of an identical translation differs by {:.2g} at most\n",
                    sides[0]->name(), sides[1]->name(), agreement.identical, counted(agreement.sentences(), "sentence"),
                    ties, tie, agreement.differences.size() - ties, agreement.score_drift));
    for (const Difference& difference : agreement.differences) {
        write_output(describe(difference, sides, lines[difference.sentence], tie));
    }
}

std::size_t report_problems(const ComparedSide& side) {
    std::size_t problems = 0;
    for (std::size_t i = 0; i < side.sentences().size(); ++i) {
        if (!side.sentences()[i].problem.empty()) {
            ++problems;
            tell(fmt::format("headscope: sentence {}: {}", i + 1, side.sentences()[i].problem));
        }
    }
    return problems;
}

void require_something(const std::vector<TranslatedSentence>& sentences) {
    if (std::none_of(sentences.begin(), sentences.end(), [](const TranslatedSentence& sentence) {
            return !sentence.source_ids.empty() && sentence.problem.empty();
        })) {
        throw Error("there is no sentence to compare the devices by: give lines of text, or --tsv FILE");
    }
}

// What the others are held against comes first: the CPU, where nobody says.
std::vector<std::string> compared_ids(const CompareOptions& options) {
    const std::string asked =
        asked_device(options.devices.empty() ? options.device : options.devices, settings_of(options));
    std::vector<std::string> ids = compared_devices({asked}, options.translation.open_options);
    if (asked == "all") {
        std::rotate(ids.begin(), ids.end() - 1, ids.end());
    }
    if (options.devices.empty() && (ids.size() < 2 || !options.with.empty())) {
        ids.insert(ids.begin(), options.with.empty() ? "cpu" : options.with);
    } else if (ids.size() < 2) {
        throw Error(fmt::format("--devices {} is one device: name those to be held against the first after it",
                                options.devices));
    }
    return ids;
}

// One of those that are compared: without a side it could not be opened.
struct Contender {
    ComparedDevice device;
    std::unique_ptr<ComparedSide> side;
};

struct Contest {
    std::unique_ptr<ComparedSide> reference;
    std::vector<Contender> others;

    bool alone() const { return others.size() == 1; }
};

void require_another(const ComparedSide& side, const std::string& name) {
    if (side.name() == name) {
        throw Error(fmt::format(
            "both devices are {}, which agrees with itself: name another by --device, --with or --devices", name));
    }
}

void note_failure(ComparedDevice& device, const std::string& why) {
    device.failure = why;
    tell(fmt::format("headscope: {} failed: {}", device.name, why));
}

// Every device once.
Contest open_sides(const CompareOptions& options) {
    const std::string model = find_model(options.model, settings_of(options));
    const bool all =
        asked_device(options.devices.empty() ? options.device : options.devices, settings_of(options)) == "all";
    TranslationFlags flags = options.translation;
    flags.greedy = true;
    flags.choices.split_longer_than = 0;  // differences are followed in whole lines
    TranslationFlags rounded = flags;
    rounded.precision = options.precision;
    const std::vector<std::string> ids = compared_ids(options);
    Contest contest{.reference = std::make_unique<ComparedSide>(ids.front(), model, flags), .others = {}};
    for (auto id = ids.begin() + 1; id != ids.end(); ++id) {
        Contender next{.device = {.name = *id}, .side = nullptr};
        try {
            next.side = std::make_unique<ComparedSide>(*id, model, rounded);
            next.device.name = next.side->name();
        } catch (const Error& error) {
            if (ids.size() == 2 || (!all && !device_failed(error))) {
                throw;
            }
            note_failure(next.device, error.what());
        }
        require_another(*contest.reference, next.device.name);
        for (const Contender& other : contest.others) {
            if (other.side != nullptr) {
                require_another(*other.side, next.device.name);
            }
        }
        contest.others.push_back(std::move(next));
    }
    return contest;
}

// One device. What one of several fails at is told, and in its line; of one alone it is the end.
void compare(Contest& contest, Contender& contender, const std::vector<std::string>& lines,
             const CompareOptions& options) {
    ComparedDevice& device = contender.device;
    try {
        contender.side->translate(lines);
        device.tokens_a_second = contender.side->tokens_a_second();
        const ComparedSide::Found found = contender.side->hold_against(*contest.reference, options.look);
        device.agreement = found.agreement;
        device.inner = found.inner;
    } catch (const Error& error) {
        if (contest.alone()) {
            throw;
        }
        note_failure(device, error.what());
        return;
    }
    if (!options.json) {
        print(device.agreement, {contender.side.get(), contest.reference.get()}, lines, options.tie);
    }
}

// In the order of the devices: a reference that does not come back ends it.
void compare_all(Contest& contest, const std::vector<std::string>& lines, const CompareOptions& options,
                 ComparisonReport& report) {
    for (Contender& contender : contest.others) {
        ComparedDevice& device = contender.device;
        if (!report.reference_failure.empty()) {
            device.failure = "not compared";
        } else if (device.failure.empty()) {
            compare(contest, contender, lines, options);
            if (!device.failure.empty()) {
                report.reference_failure = contest.reference->failure();
            }
            if (!report.reference_failure.empty()) {
                tell(fmt::format("headscope: {}, which all are held against, failed: {}", report.reference,
                                 report.reference_failure));
                device.failure = "not compared";
            }
        }
        contender.side.reset();  // others may share its memory
        report.devices.push_back(device);
    }
}

// Error with all that is wrong.
void require_agreement(const ComparisonReport& report, std::size_t problems, std::size_t lines) {
    std::vector<std::string> wrong;
    if (problems > 0) {
        wrong.push_back(fmt::format("{} of {} sentences were not translated, and not compared", problems, lines));
    }
    if (!report.reference_failure.empty()) {
        wrong.push_back(report.reference + ", which all are held against, failed");
    }
    for (const ComparedDevice& device : report.devices) {
        if (!device.failure.empty()) {
            wrong.push_back(device.name + " was not compared");
        } else if (!device.agreement.holds(report.tie)) {
            wrong.push_back(fmt::format("{} of {} sentences differ by more than a tie on {}",
                                        device.agreement.differences.size() - device.agreement.ties(report.tie),
                                        device.agreement.sentences(), device.name));
        }
    }
    if (!wrong.empty()) {
        throw Error(fmt::format("{}", fmt::join(wrong, "; ")));
    }
}

void compare(const CompareOptions& options) {
    InputFiles inputs(settings_of(options));
    inputs.add(options.tsv.empty() ? options.input : options.tsv);
    inputs.add(find_model(options.model, settings_of(options)));
    inputs.refuse("-");
    const std::vector<std::string> lines = read_text(options);
    Contest contest = open_sides(options);
    contest.reference->translate(lines);
    const std::size_t problems = report_problems(*contest.reference);
    require_something(contest.reference->sentences());
    ComparisonReport report{.reference = contest.reference->name(),
                            .reference_tokens_a_second = contest.reference->tokens_a_second(),
                            .tie = options.tie};
    compare_all(contest, lines, options, report);
    write_output(options.json ? comparison_json(report) : "\n" + comparison_table(report));
    require_agreement(report, problems, lines.size());
}

}  // namespace

void add_compare_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<CompareOptions>();
    options->translation.open_options = open_options;
    CLI::App* command = app.add_subcommand("compare", "Hold one device's translations against another's");
    command->footer(
        "Both translate greedily. Where two outputs part, both devices score the two tokens that they chose between,\n"
        "after the same tokens before: a gap that rounding explains is a tie. Anything more makes the exit code 1.\n"
        "Then both go through the translations once more, told every token, and logits and attention weights are held\n"
        "against each other.\n"
        "Of several devices one that fails has a line that says why (in JSON \"failure\"), and the exit code is 1.\n\n"
        "Examples:\n"
        "  headscope compare --device vulkan assets/examples/everyday.en\n"
        "  headscope compare --device vulkan:1 --with vulkan:0 --tsv test.tsv --limit 500\n"
        "  headscope compare --devices cpu,cuda,vulkan --json text.en\n"
        "  headscope compare --devices all text.en\n"
        "  headscope compare --device cpu --with cpu:oracle < text.en\n"
        "  headscope compare --device cpu --precision bf16 --with cpu < text.en");
    CLI::Option* input =
        command->add_option("FILE", options->input, "UTF-8 text, one sentence a line; - is standard input")
            ->capture_default_str();
    command
        ->add_option(
            "--tsv", options->tsv,
            "\"source TAB target\" lines, plain or packed by gzip, zstd, xz or bzip2; the source is translated")
        ->excludes(input);
    command->add_option("--model", options->model, "Model directory; without it HEADSCOPE_MODEL or the en-de model")
        ->check(something);
    CLI::Option* device =
        command->add_option("--device", options->device, "cpu, cuda, vulkan, vulkan:1, ...; see headscope devices")
            ->check(something);
    CLI::Option* with = command->add_option("--with", options->with, "The device to hold it against")
                            ->check(something)
                            ->default_str("cpu");
    command
        ->add_option("--devices", options->devices,
                     "Several, such as cpu,cuda,vulkan:1: each is held against the first; or all that can be used, "
                     "also one that the CPU plays: each is held against the CPU")
        ->check(something)
        ->excludes(device)
        ->excludes(with);
    command
        ->add_option("--look", options->look,
                     "Of how many sentences logits and attention weights are compared, too; 0: of none")
        ->check(whole_number(0))
        ->capture_default_str();
    command->add_flag("--json", options->json, "One object, for programs");
    command->add_option("--limit", options->limit, "Only the first so many sentences; 0: all")->check(whole_number(0));
    command->add_option("--tie", options->tie, "Gap of log probabilities that rounding may explain")
        ->check(real_number(0.0, 1e6))
        ->capture_default_str();
    command
        ->add_option("--max-extra", options->translation.options.search.max_extra,
                     "A translation has at most this many pieces more than its source")
        ->check(whole_number(0, 100'000))
        ->capture_default_str();
    command
        ->add_option("--batch-tokens", options->translation.options.batch_tokens, "Source pieces translated at a time")
        ->check(whole_number(1, 10'000'000))
        ->capture_default_str();
    add_precision_option(
        *command, options->precision,
        "Of those that are held against another: f32 (default), tf32, bf16, f16 or i8; what does that change?");
    command->callback([options] { compare(*options); });
}

}  // namespace headscope

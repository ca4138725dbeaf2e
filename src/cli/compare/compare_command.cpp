// headscope compare: whether devices translate, complete or fill in the same.
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
#include "engine/failures.h"
#include "io/input_files.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "options/text_options.h"
#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"
#include "text/lines.h"

namespace headscope {
namespace {

struct CompareOptions {
    CommonOptions common;  // of the devices that are compared with the reference
    std::string with;
    std::string devices;
    std::size_t look = 50;
    std::string tsv;
    std::string input = "-";
    std::size_t limit = 0;
    double tie = 1e-4;
    DecodingChoices choices;
};

using Sides = std::array<const ComparedSide*, 2>;  // a device, and the reference

std::vector<std::string> read_text(const CompareOptions& options) {
    std::vector<std::string> lines = options.tsv.empty() ? read_lines(options.input) : read_tsv(options.tsv).source;
    if (options.limit > 0 && lines.size() > options.limit) {
        lines.resize(options.limit);
    }
    return lines;
}

std::string describe(const Difference& difference, const Sides& sides, const std::string& source, double tie) {
    const Tokenizer& tokenizer = *sides[0]->model().target_tokenizer;
    const Architecture family = sides[0]->model().config.architecture;
    const bool translates = traits(family).reads_source;
    std::string text = fmt::format("\n{} {}, {} {}: {}, gap {:.2g}\n    {}  {}\n", translates ? "sentence" : "line",
                                   difference.sentence + 1, translates ? "target token" : "token",
                                   difference.divergence.position + 1, difference.gap <= tie ? "a tie" : "DIFFERENT",
                                   difference.gap, translates ? "source" : traits(family).given_in, source);
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const std::optional<std::int32_t> token = difference.divergence.candidates[i];
        text += fmt::format("    {} chose {}: log P {:.7f} on {}, {:.7f} on {}\n", sides[i]->name(),
                            token ? tokenizer.piece(*token) : "nothing", difference.by_device[0][i], sides[0]->name(),
                            difference.by_device[1][i], sides[1]->name());
    }
    return text;
}

void print(const Agreement& agreement, const Sides& sides, const std::vector<std::string>& lines, double tie) {
    const Architecture family = sides[0]->model().config.architecture;
    const std::size_t ties = agreement.ties(tie);
    write_output(
        fmt::format("{} and {} {} {} of {} identically (greedy); {} differ by a tie (gap at most {:g}), {} by more\n"
                    "log P of an identical output differs by {:.2g} at most\n",
                    sides[0]->name(), sides[1]->name(), traits(family).verb, agreement.identical,
                    counted(agreement.sentences(), "sentence"), ties, tie, agreement.differences.size() - ties,
                    agreement.score_drift));
    for (const Difference& difference : agreement.differences) {
        write_output(describe(difference, sides, lines[difference.sentence], tie));
    }
}

std::size_t report_problems(const ComparedSide& side) {
    std::size_t problems = 0;
    for (std::size_t i = 0; i < side.sentences().size(); ++i) {
        if (!side.sentences()[i].problem.empty()) {
            ++problems;
            log_error(fmt::format("headscope: sentence {}: {}", i + 1, side.sentences()[i].problem));
        }
    }
    return problems;
}

void require_something(const std::vector<TextResult>& sentences, Architecture family) {
    if (std::none_of(sentences.begin(), sentences.end(), [](const TextResult& sentence) {
            return !sentence.source_ids.empty() && sentence.problem.empty();
        })) {
        throw Error(traits(family).fills_masks
                        ? "there is no text to compare the devices with: give lines with [MASK]"
                        : "there is no sentence to compare the devices with: give lines of text, or --tsv FILE");
    }
}

std::string asked_of(const CompareOptions& options) {
    return asked_device(options.devices.empty() ? options.common.device() : options.devices,
                        options.common.open.settings);
}

// The reference comes first: the CPU by default.
std::vector<std::string> compared_ids(const CompareOptions& options) {
    const std::string asked = asked_of(options);
    std::vector<std::string> ids = asked_devices(asked, options.common.open);
    if (names_all(asked)) {
        std::rotate(ids.begin(), ids.end() - 1, ids.end());
    }
    if (options.devices.empty() && (ids.size() < 2 || !options.with.empty())) {
        ids.insert(ids.begin(), options.with.empty() ? "cpu" : options.with);
    } else if (ids.size() < 2) {
        throw UsageError(fmt::format("--devices {} is one device: add those to compare with it", options.devices));
    }
    return ids;
}

// A device to compare; `side` is null if it could not be opened.
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
        throw UsageError(fmt::format(
            "both devices are {}, which agrees with itself: name another by --device, --with or --devices", name));
    }
}

void note_failure(ComparedDevice& device, const std::string& why) {
    device.failure = why;
    log_error(fmt::format("headscope: {} failed: {}", device.name, why));
}

// Error if a device is named twice.
Contest open_sides(const CompareOptions& options) {
    const std::string model = options.common.model_path();
    const bool all = names_all(asked_of(options));
    TranslationFlags flags{.common = {.open = options.common.open}, .greedy = true, .choices = options.choices};
    TranslationFlags rounded = flags;
    rounded.common.precision = options.common.precision;
    const std::vector<std::string> ids = compared_ids(options);
    Contest contest{.reference = std::make_unique<ComparedSide>(ids.front(), model, flags), .others = {}};
    for (auto id = ids.begin() + 1; id != ids.end(); ++id) {
        Contender next{.device = {.name = *id}, .side = nullptr};
        try {
            next.side = std::make_unique<ComparedSide>(*id, model, rounded);
            next.device.name = next.side->name();
        } catch (const Error& error) {
            if (ids.size() == 2 || (!all && classify(std::current_exception()) == Fault::Request)) {
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

// Compares one device. A failure is reported in its line of the table; if it is the only device, it is an Error.
void compare(Contest& contest, Contender& contender, const std::vector<std::string>& lines,
             const CompareOptions& options) {
    ComparedDevice& device = contender.device;
    try {
        contender.side->translate(lines);
        device.tokens_a_second = contender.side->tokens_a_second();
        const ComparedSide::Found found = contender.side->compare_with(*contest.reference, options.look);
        device.agreement = found.agreement;
        device.inner = found.inner;
    } catch (const Error& error) {
        if (contest.alone()) {
            throw;
        }
        note_failure(device, error.what());
        return;
    }
    if (!options.common.json) {
        print(device.agreement, {contender.side.get(), contest.reference.get()}, lines, options.tie);
    }
}

// In the order of the devices, until the reference fails for good.
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
                log_error(
                    fmt::format("headscope: the reference {} failed: {}", report.reference, report.reference_failure));
                device.failure = "not compared";
            }
        }
        contender.side.reset();  // others may share its memory
        report.devices.push_back(device);
    }
}

// Error that lists everything that is wrong.
void require_agreement(const ComparisonReport& report, std::size_t problems, std::size_t lines) {
    std::vector<std::string> wrong;
    if (problems > 0) {
        wrong.push_back(fmt::format("{} of {} sentences have no output", problems, lines));
    }
    if (!report.reference_failure.empty()) {
        wrong.push_back("the reference " + report.reference + " failed");
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
    InputFiles inputs(options.common.open.settings);
    inputs.add(options.tsv.empty() ? options.input : options.tsv);
    inputs.add(options.common.model_path());
    inputs.refuse("-");
    const std::vector<std::string> lines = read_text(options);
    Contest contest = open_sides(options);
    contest.reference->translate(lines);
    const std::size_t problems = report_problems(*contest.reference);
    require_something(contest.reference->sentences(), contest.reference->model().config.architecture);
    ComparisonReport report{.reference = contest.reference->name(),
                            .reference_tokens_a_second = contest.reference->tokens_a_second(),
                            .tie = options.tie};
    compare_all(contest, lines, options, report);
    write_output(options.common.json ? comparison_json(report) : "\n" + comparison_table(report));
    require_agreement(report, problems, lines.size());
}

}  // namespace

void add_compare_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<CompareOptions>();
    CommonOptions& common = options->common;
    common.open = open_options;
    CLI::App* command = app.add_subcommand("compare", "Compare the outputs of two or more devices")->group("Prove");
    command->footer(
        "All devices translate greedily, complete each line with a causal language model, or fill in each [MASK]\n"
        "with a masked one. Where two outputs diverge, both devices score the two candidate tokens: a gap that\n"
        "rounding explains is a tie, a larger one makes the exit code 1. Then logits and attention weights of the\n"
        "same tokens are compared. A device that fails is reported in its line, and makes the exit code 1.\n"
        "\n"
        "Examples:\n"
        "  headscope compare --device vulkan text.en\n"
        "  headscope compare --device vulkan:1 --with vulkan:0 --tsv test.tsv --limit 500\n"
        "  headscope compare --devices cpu,cuda,vulkan --json text.en\n"
        "  headscope compare --devices all+software text.en\n"
        "  headscope compare --device cpu --with cpu:oracle < text.en\n"
        "  headscope compare --device cpu --precision bf16 --with cpu < text.en");
    command->option_defaults()->group("Data");
    CLI::Option* input =
        command->add_option("FILE", options->input, "UTF-8 text, one sentence per line; - is standard input")
            ->capture_default_str();
    CLI::Option* text = add_text(*command, input);
    command
        ->add_option("--tsv", options->tsv,
                     "Lines of \"source TAB target\", whose source is translated; may be compressed")
        ->type_name("FILE")
        ->excludes(input)
        ->excludes(text);
    command->add_option("--limit", options->limit, "Only the first N sentences; 0: all")->check(whole_number(0));
    add_decoding_flags(*command, options->choices, {"source_language", "target_language", "task_prefix"});
    common.add_model(*command);
    CLI::Option* device = common.add_device(*command);
    command->option_defaults()->group("Device");
    CLI::Option* with = command->add_option("--with", options->with, "The reference to compare --device with")
                            ->type_name("DEVICE")
                            ->check(not_empty)
                            ->default_str("cpu");
    command
        ->add_option(
            "--devices", options->devices,
            "Several, such as cpu,cuda,vulkan:1: the first is the reference; or all or all+software: the CPU is")
        ->type_name("LIST")
        ->check(not_empty)
        ->excludes(device)
        ->excludes(with);
    common.add_precision(*command)->description("Precision of the compared devices (the reference uses f32)");
    command->option_defaults()->group("Decoding");
    add_decoding_flags(*command, options->choices, {"max_extra", "batch_tokens"});
    command->get_option("--max-extra")->default_str("50");
    command->option_defaults()->group("Comparison");
    command
        ->add_option("--look", options->look,
                     "Compare logits and attention weights of this many sentences, too; 0: none")
        ->check(whole_number(0))
        ->capture_default_str();
    command->add_option("--tie", options->tie, "Largest gap of log probabilities that rounding may explain")
        ->check(real_number(0.0, 1e6))
        ->capture_default_str();
    common.add_json(*command);
    command->callback([options] { compare(*options); });
}

}  // namespace headscope

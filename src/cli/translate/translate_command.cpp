// headscope translate: lines of text in, their translations out.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "answers/line_alignments.h"
#include "cli/command.h"
#include "cli/input_descriptor.h"
#include "cli/opened_engine.h"
#include "cli/translate/prefixes.h"
#include "cli/translate/translation_flags.h"
#include "cli/translate/translation_output.h"
#include "cli/translate/unknown_note.h"
#include "engine/text_translator.h"
#include "engine/translation_stream.h"
#include "infer/framed_line.h"
#include "io/input_files.h"
#include "io/unpacking_reader.h"
#include "options/option_values.h"
#include "options/progress.h"
#include "options/text_options.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct TranslateOptions {
    TranslationFlags translation;
    PrefixFlags prefix;
    OutputFormat format;
    AlignmentOptions alignment;
    std::string input = "-";
    std::string alignment_units = "words";
    bool replace_unknown = false;
    bool stats = false;

    bool needs_alignments() const { return format.alignments || replace_unknown; }
};

// 0 if this is not a regular file or cannot be read; translating it will report why.
std::int64_t lines_of_file(const std::string& path) {
    if (path == "-" || !std::filesystem::is_regular_file(path)) {
        return 0;
    }
    try {
        UnpackingReader reader(path, "'" + path + "'");
        std::int64_t lines = 0;
        bool in_line = false;
        for (std::string_view bytes = reader.read(); !bytes.empty(); bytes = reader.read()) {
            lines += std::count(bytes.begin(), bytes.end(), '\n');
            in_line = bytes.back() != '\n';
        }
        return lines + (in_line ? 1 : 0);
    } catch (const Error&) {
        return 0;
    }
}

// Writes translations to standard output as they come.
class Writer {
public:
    Writer(const TranslateOptions& options, const DecodingOptions& translation, OpenedEngine& opened)
        : options_(options), translation_(translation), opened_(opened) {
        if (options.needs_alignments()) {
            opened.run(
                [&](const Place& place) { check_alignment_options(options.alignment, place.model.generators()); });
        }
    }

    void write(std::vector<StreamedLine> lines) {
        std::vector<std::vector<Alignment>> alignments(lines.size());
        if (options_.needs_alignments()) {
            opened_.run([&](const Place& place) {
                Context ctx{.backend = place.backend, .compute = place.compute};
                if (options_.format.alignments) {
                    alignments = align_lines(ctx, place.model, lines, options_.alignment, translation_.batch_tokens);
                }
                if (options_.replace_unknown) {
                    replaced_ +=
                        replace_unknown(ctx, place.model, lines, options_.alignment, translation_.batch_tokens);
                }
            });
        }
        std::string text;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            text += format_line(options_.format, *opened_.directory().target_tokenizer, lines[i], alignments[i]);
            unsure_.add(options_.format.unsure.rule, lines[i].sentence);
        }
        write_output(text);
    }
    // What to say at the end.
    std::vector<std::string> notes() const {
        std::vector<std::string> notes;
        if (const std::string unsure = unsure_.note(options_.format.unsure.rule, "translations"); !unsure.empty()) {
            notes.push_back(unsure);
        }
        if (replaced_ > 0) {
            notes.push_back(counted(replaced_, "unknown piece") + " replaced by source words");
        }
        return notes;
    }

private:
    const TranslateOptions& options_;
    const DecodingOptions& translation_;
    OpenedEngine& opened_;
    UnsureCount unsure_;
    std::int64_t replaced_ = 0;
};

void print_stats(const StreamTotals& totals, const std::vector<DeviceUse>& devices, double ready, double first) {
    constexpr double kMebi = 1024.0 * 1024.0;
    const DeviceInfo& device = devices.front().info;
    const bool several = devices.size() > 1;
    for (const DeviceUse& share : several ? devices : std::vector<DeviceUse>{}) {
        log_line(fmt::format("{}: {} in {}, {}{}", share.name, counted(share.sentences, "sentence"),
                             counted(share.batches, "batch", "batches"), counted(share.target_tokens, "target token"),
                             share.failure.empty() ? "" : "; failed: " + share.failure));
    }
    log_line(fmt::format(
        "{}, {} source and {} target tokens in {:.2f} s: {:.1f} target tokens/s on {} ({}); ready after "
        "{:.2f} s, first translation after {:.2f} s, {} cut at the maximum length, at most {:.0f} MiB on the device",
        counted(totals.lines, "line"), totals.source_tokens, totals.target_tokens, totals.seconds,
        totals.seconds > 0.0 ? static_cast<double>(totals.target_tokens) / totals.seconds : 0.0,
        several ? "all" : device.id, several ? "several devices; the memory is the first's" : device.name, ready, first,
        totals.cut, static_cast<double>(devices.front().peak_bytes) / kMebi));
}

void translate(TranslateOptions options) {
    const Clock::time_point start = Clock::now();
    const InputDescriptor file(options.input);
    if (options.replace_unknown) {  // those that the model may write
        options.translation.choices.allow_unknown = true;
    }
    if (!options.needs_alignments() && (options.alignment.layer > 0 || !options.alignment.heads.empty())) {
        throw UsageError("--alignment-layer and --alignment-heads need --alignments or --replace-unknown");
    }
    check_choices(options.translation.choices);
    options.format.n_best = options.translation.choices.n_best.has_value();
    options.alignment.pieces = options.alignment_units == "pieces";
    const CommonOptions& common = options.translation.common;
    options.format.json = common.json;
    const std::vector<std::string> models = common.find_models();
    InputFiles inputs(common.open.settings);
    inputs.add({options.input, options.prefix.file});
    inputs.add(models);
    inputs.refuse("-");
    const bool output_on_terminal = ::isatty(STDOUT_FILENO) == 1;  // which shows how far it is
    const ProgressScreen screen = standard_error(!output_on_terminal);
    ProgressMeter progress("line", screen.quiet ? 0 : lines_of_file(options.input), screen);
    const auto warn = [&progress](const std::string& message) {
        progress.clear();
        log_line("headscope: " + message);
    };
    OpenedEngine opened(common, models, warn);
    require_architecture(opened.directory(), Architecture::EncoderDecoder);
    const DecodingOptions translation =
        translation_options(options.translation, *opened.model, opened.first().arithmetic.compute);
    if (opened.several() && options.needs_alignments()) {
        throw UsageError(fmt::format("{} needs a single --device: it reads the weights where the line was translated",
                                     options.format.alignments ? "--alignments" : "--replace-unknown"));
    }
    options.alignment.frame = any_frame(opened.directory(), translation.search.languages);
    const Prefixes prefixes(options.prefix, *opened.directory().target_tokenizer);
    Writer writer(options, translation, opened);
    const double ready = seconds_since(start);

    LineSource input(file.get(), file.name());
    std::optional<double> first;
    const StreamSinks sinks{.translated =
                                [&](const std::vector<StreamedLine>& next) {
                                    first = first.value_or(seconds_since(start));
                                    writer.write(next);
                                    progress.add(std::ssize(next));
                                },
                            .warning = warn};
    const StreamTotals totals = translate_stream(TextTranslator(opened.engine, opened.model), input, sinks, translation,
                                                 [&](std::int64_t line) { return prefixes.of(line); });
    progress.clear();
    if (totals.unknown > 0) {
        warn(unknown_note(totals.unknown, totals.lines, "lines", "translated as the unknown piece"));
    }
    for (const std::string& note : writer.notes()) {
        warn(note);
    }
    if (options.stats) {
        print_stats(totals, opened.engine.devices(), ready, first.value_or(0.0));
    }
    prefixes.check_used(totals.lines);
    if (totals.problems > 0) {
        const char* written = options.format.json     ? "see \"problem\" in the output"
                              : options.format.n_best ? "they have no list in the output"
                                                      : "their lines in the output are empty";
        throw Error(fmt::format("{} of {} lines were not translated; {}", totals.problems, totals.lines, written));
    }
}

void add_output_flags(CLI::App& command, TranslateOptions& options) {
    add_output(command);
    CLI::Option* json = options.translation.common.add_json(command);
    command.option_defaults()->group("Output");
    command
        .add_flag("--scores", options.format.scores, "Print \"score TAB translation\"; the score is log P / penalty")
        ->excludes(command.get_option("--n-best"))
        ->excludes(json);
    CLI::Option* alignments =
        command.add_flag("--alignments", options.format.alignments,
                         "Append \" ||| 0-0 1-2\": source and target words linked by cross-attention, from 0");
    command.add_flag("--replace-unknown", options.replace_unknown,
                     "Let the model write its unknown piece, and replace it by the source word it is aligned with");
    command.add_option("--alignment-layer", options.alignment.layer, "Decoder layer to align by, from 1")
        ->check(whole_number(1))
        ->default_str("the last but one");
    command.add_option("--alignment-heads", options.alignment.heads, "Heads to average, such as 1,5")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(whole_number(1))
        ->default_str("all");
    command.add_option("--alignment-units", options.alignment_units, "What to link")
        ->check(CLI::IsMember({"words", "pieces"}))
        ->capture_default_str()
        ->needs(alignments);
    add_unsure_flags(command, options.format.unsure);
    command.option_defaults()->group("Output");
    command.add_flag("--stats", options.stats, "Print counts and speeds on standard error");
}

}  // namespace

void add_translate_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<TranslateOptions>();
    options->translation.common.open = open_options;
    CLI::App* command = app.add_subcommand("translate", "Translate text, one sentence per line")->group("Translate");
    command->footer(fmt::format(
        "Writes one line for each input line, in order, as soon as it is translated. Lines are read ahead to batch\n"
        "those of similar length: {} lines first, then as many as take about {:.0f} seconds ({} to {}).\n"
        "A line too long for the model is split into sentences. A line that cannot be translated is reported on\n"
        "standard error, gives an empty line, and makes the exit code 1.\n"
        "Several devices share the lines; if one fails, the others do its work.\n"
        "--n-best prints lists like those of Moses and Marian: 0 ||| translation ||| LogP= -1.2345 ||| -0.6789\n"
        "--json prints one object per line. docs/translating.md explains every kind of output.\n\n"
        "Examples:\n"
        "  headscope translate --text 'The weather is nice today.'\n"
        "  headscope translate --greedy --stats text.en\n"
        "  headscope translate --device vulkan --beam 8 --scores text.en -o text.de\n"
        "  headscope translate --device vulkan:0,vulkan:1,cpu < text.en > text.de\n"
        "  headscope translate --n-best 3 --json < text.en\n"
        "  headscope translate --alignments < text.en\n"
        "  headscope translate --least-confidence 0.5 --unsure leave-out < text.en\n"
        "  headscope translate --replace-unknown --model runs/of-words < text.en\n"
        "  headscope translate --prefix 'Guten' < text.en\n"
        "  headscope translate --sample --temperature 0.8 --top-p 0.9 --seed 7 < text.en\n"
        "  headscope translate --model runs/my-model --model runs/my-model < text.en",
        WindowSize::kFirst, WindowSize::kSeconds, WindowSize::kSmallest, WindowSize::kLargest));
    CLI::Option* file = command
                            ->add_option("FILE", options->input,
                                         "UTF-8 text, plain or compressed with gzip, zstd, xz or bzip2; - is "
                                         "standard input")
                            ->capture_default_str();
    add_text(*command, file);
    options->translation.common.add_models(*command);
    options->translation.common.add_device_list(*command);
    options->translation.common.add_precision(*command);
    add_search_flags(*command, options->translation, true);
    add_prefix_flags(*command, options->prefix);
    add_output_flags(*command, *options);
    command->callback([options] { translate(*options); });
}

}  // namespace headscope

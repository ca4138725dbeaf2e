// headscope translate: lines of text in, their translations out.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/models_option.h"
#include "cli/translate/decoding_flags.h"
#include "cli/translate/line_alignments.h"
#include "cli/translate/line_progress.h"
#include "cli/translate/translation_flags.h"
#include "cli/translate/translation_output.h"
#include "cli/translate/unknown_note.h"
#include "engine/engine.h"
#include "engine/exclusive_device.h"
#include "infer/translation_stream.h"
#include "io/input_files.h"
#include "io/unpacking_reader.h"
#include "options/option_values.h"
#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct TranslateOptions {
    TranslationFlags translation;
    DecodingFlags decoding;
    OutputFormat format;
    AlignmentOptions alignment;
    std::vector<std::string> models;  // none: see find_model
    std::string input = "-";
    std::string alignment_units = "words";
    bool progress = false;  // of neither: where somebody looks
    bool no_progress = false;
    bool stats = false;
};

// Standard input, or a file that is closed at the end.
class Input {
public:
    explicit Input(const std::string& path) : owned_(path != "-") {
        if (owned_) {
            descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
            if (descriptor_ < 0) {
                throw Error(fmt::format("cannot read '{}': {}", path, std::generic_category().message(errno)));
            }
        }
    }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;
    ~Input() {
        if (owned_) {
            ::close(descriptor_);
        }
    }
    int descriptor() const { return descriptor_; }

private:
    bool owned_;
    int descriptor_ = STDIN_FILENO;
};

// None of what is no file, or cannot be read to its end: that is told where it is translated.
std::optional<std::int64_t> lines_of_file(const std::string& path) {
    if (path == "-" || !std::filesystem::is_regular_file(path)) {
        return {};
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
        return {};
    }
}

// Where nobody asked: for files, on a terminal that the translations do not go to.
LineProgress make_progress(const TranslateOptions& options) {
    const bool looked_at = options.input != "-" && ::isatty(STDERR_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 0;
    const bool shown = options.progress || (looked_at && !options.no_progress);
    return {shown, shown ? lines_of_file(options.input) : std::nullopt};
}

// Translations as they come, to standard output.
class Writer {
public:
    Writer(const TranslateOptions& options, const TranslationOptions& translation, const Engine& engine)
        : options_(options), translation_(translation), engine_(engine) {
        if (options.format.alignments) {
            check_alignment_options(options.alignment, engine.first().translator().transformers());
        }
    }

    void write(const std::vector<StreamedLine>& lines) const {
        std::vector<std::vector<Alignment>> alignments(lines.size());
        if (options_.format.alignments) {
            engine_.first().run([&](Backend& backend, const Translator& translator) {
                Context ctx{.backend = backend, .compute = translation_.compute};
                alignments = align_lines(ctx, translator, lines, options_.alignment, translation_.batch_tokens);
            });
        }
        std::string text;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            text += format_line(options_.format, *engine_.model().target_tokenizer, lines[i], alignments[i]);
        }
        write_output(text);
    }

private:
    const TranslateOptions& options_;
    const TranslationOptions& translation_;
    const Engine& engine_;
};

void print_stats(const StreamTotals& totals, const Engine& engine, const std::vector<Service::Share>& shares,
                 double ready, double first) {
    constexpr double kMebi = 1024.0 * 1024.0;
    const DeviceInfo& device = engine.first().info();
    for (const Service::Share& share : engine.several() ? shares : std::vector<Service::Share>{}) {
        tell(fmt::format("{}: {} in {}, {}{}", share.name, counted(share.sentences, "sentence"),
                         counted(share.batches, "batch", "batches"), counted(share.target_tokens, "target token"),
                         share.failure.empty() ? "" : "; it failed: " + share.failure));
    }
    tell(fmt::format(
        "{}, {} source and {} target tokens in {:.2f} s: {:.1f} target tokens/s on {} ({}); ready after "
        "{:.2f} s, first translation after {:.2f} s, {} cut at the longest output, {:.0f} MiB on the device at most",
        counted(totals.lines, "line"), totals.source_tokens, totals.target_tokens, totals.seconds,
        totals.seconds > 0.0 ? static_cast<double>(totals.target_tokens) / totals.seconds : 0.0,
        engine.several() ? "all of them" : device.id,
        engine.several() ? "several devices; the memory is the first's" : device.name, ready, first, totals.cut,
        static_cast<double>(engine.first().peak_bytes()) / kMebi));
}

void translate(TranslateOptions options) {
    const Clock::time_point start = Clock::now();
    const Input file(options.input);
    if (options.decoding.sample) {
        options.translation.options.search.sampling = options.decoding.sampling;
    }
    options.format.n_best = options.decoding.n_best;
    options.alignment.pieces = options.alignment_units == "pieces";
    const std::vector<std::string> models = find_models(options.models, options.translation.open_options.settings);
    InputFiles inputs(options.translation.open_options.settings);
    inputs.add({options.input, options.decoding.prefix_file});
    inputs.add(models);
    inputs.refuse("-");
    LineProgress progress = make_progress(options);
    const auto warn = [&progress](const std::string& message) { progress.say("headscope: " + message); };
    const OpenOptions& open = options.translation.open_options;
    const Engine engine({.devices = asked_devices(options.translation.device, open),
                         .models = models,
                         .precision = options.translation.precision,
                         .skip_unusable = asked_device(options.translation.device, open.settings) == "all",
                         .open = open},
                        warn);
    const TranslationOptions translation = translation_options(
        options.translation, engine.first().translator().decoding_choices(), engine.first().arithmetic().compute);
    if (engine.several() && options.format.alignments) {
        throw Error("--alignments takes one --device: the weights are looked at where the line was translated");
    }
    const Prefixes prefixes(options.decoding, *engine.model().target_tokenizer);
    const Writer writer(options, translation, engine);
    const double ready = seconds_since(start);

    LineSource input(file.descriptor(), options.input == "-" ? "standard input" : "'" + options.input + "'");
    std::optional<double> first;
    const StreamSinks sinks{.translated =
                                [&](const std::vector<StreamedLine>& next) {
                                    first = first.value_or(seconds_since(start));
                                    writer.write(next);
                                    progress.done(static_cast<std::int64_t>(next.size()));
                                },
                            .complaint = warn};
    // Alignments use the device between the batches.
    const ExclusiveDevice exclusive(engine.first());
    const Service service(engine, warn);
    const LineTranslator& translator =
        options.format.alignments ? static_cast<const LineTranslator&>(exclusive) : service;
    const StreamTotals totals =
        translate_stream(translator, input, sinks, translation, [&](std::int64_t line) { return prefixes.of(line); });
    progress.finish();
    if (totals.unknown > 0) {
        warn(unknown_note(totals.unknown, totals.lines, "lines", "translated with the unknown piece in their place"));
    }
    if (options.stats) {
        print_stats(totals, engine, service.shares(), ready, first.value_or(0.0));
    }
    prefixes.check_used(totals.lines);
    if (totals.problems > 0) {
        const char* written = options.format.json     ? "\"problem\" in the output says why"
                              : options.format.n_best ? "the output has no list of theirs"
                                                      : "their lines of the output are empty";
        throw Error(fmt::format("{} of {} lines were not translated; {}", totals.problems, totals.lines, written));
    }
}

void add_output_flags(CLI::App& command, TranslateOptions& options) {
    CLI::Option* scores = command.add_flag("--scores", options.format.scores,
                                           "Write \"score TAB translation\"; the score is log P / penalty");
    scores->excludes(command.get_option("--n-best"));
    command
        .add_flag("--json", options.format.json,
                  "Write an object for each line: source, translation, score, log_probability, tokens, and n_best, "
                  "alignment, cut, remark or problem where there is one")
        ->excludes(scores);
    CLI::Option* alignments =
        command.add_flag("--alignments", options.format.alignments,
                         "Write \" ||| 0-0 1-2\" behind a translation: words of the two lines as written, parted by "
                         "spaces and tabs and counted from 0, as cross-attention links them");
    command
        .add_option("--alignment-layer", options.alignment.layer,
                    "Decoder layer to align by, from 1; without it the last but one")
        ->check(whole_number(1))
        ->needs(alignments);
    command
        .add_option("--alignment-heads", options.alignment.heads,
                    "Its heads whose mean is taken, such as 1,5; without it all")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(whole_number(1))
        ->needs(alignments);
    command.add_option("--alignment-units", options.alignment_units, "What is linked: words or pieces")
        ->check(CLI::IsMember({"words", "pieces"}))
        ->capture_default_str()
        ->needs(alignments);
}

}  // namespace

void add_translate_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<TranslateOptions>();
    options->translation.open_options = open_options;
    CLI::App* command = app.add_subcommand("translate", "Translate text, one sentence a line");
    const std::string windows = fmt::format(
        "{} lines, then as many as take about {:.0f} seconds ({} to {}). No line waits for a later window.\n",
        WindowSize::kFirst, WindowSize::kSeconds, WindowSize::kSmallest, WindowSize::kLargest);
    command->footer(
        "Reads FILE or standard input and writes one line for each, in order, as soon as it and all before it are\n"
        "translated. So that lines of similar length go together, those that are there already are taken in "
        "windows:\n" +
        windows +
        "A line of more pieces than the model takes is split at the ends of its sentences, and joined again. Standard\n"
        "error says so. A line that cannot be translated (too long and without an end to split it at, not UTF-8) is\n"
        "named, gives an empty line (without a score; in a list of the best none), and makes the exit code 1.\n"
        "At the end it says how many lines contain characters that the vocabulary has no piece for, such as emoji.\n"
        "Several devices (--device vulkan:0,cpu or all) share the lines, each at its own pace, and keep their order.\n"
        "One that fails is named, and the others do its work.\n"
        "A list of the best (--n-best) is written as Moses and Marian do, lines counted from 0:\n"
        "  0 ||| translation ||| LogP= -1.2345 ||| -0.6789\n"
        "Its translations are different texts; --n-best-duplicates keeps those that differ in their pieces alone.\n"
        "That of a line that was split begins with its sentences' best, and leaves out what would score higher.\n"
        "Links (--alignments) count words that spaces and tabs part, as Moses and fast_align read lines. Other white\n"
        "space parts none, and words of nothing else (a lone no-break space) are not counted, so that links are also\n"
        "in range for readers that split at any white space. Words that the tokenizer drops are not linked.\n"
        "An empty line has one translation in every form of output, an empty text of score 0.\n\n"
        "Examples:\n"
        "  echo 'The weather is nice today.' | headscope translate\n"
        "  headscope translate --greedy --stats assets/examples/everyday.en\n"
        "  headscope translate --device vulkan --beam 8 --scores < text.en > text.de\n"
        "  headscope translate --device vulkan:0,vulkan:1,cpu < text.en > text.de\n"
        "  headscope translate --n-best 3 --json < text.en\n"
        "  headscope translate --alignments < text.en\n"
        "  headscope translate --prefix 'Guten' < text.en\n"
        "  headscope translate --sample --temperature 0.8 --top-p 0.9 --seed 7 < text.en\n"
        "  headscope translate --model runs/my-model --model runs/my-model < text.en");
    command
        ->add_option("FILE", options->input,
                     "UTF-8 text, plain or packed by gzip, zstd, xz or bzip2; - is standard input")
        ->capture_default_str();
    add_models_option(*command, options->models, "translate together by the mean of their probabilities");
    add_search_flags(*command, options->translation,
                     "a list such as vulkan:0,cpu, or all that can be used but one that the CPU plays, shares the "
                     "lines; ");
    add_decoding_flags(*command, options->decoding, options->translation);
    add_output_flags(*command, *options);
    command->add_flag("--stats", options->stats, "Say on standard error how much was translated how fast");
    CLI::Option* progress =
        command->add_flag("--progress", options->progress,
                          "Say on standard error how far it is; without it for a FILE, where that is a terminal");
    command->add_flag("--no-progress", options->no_progress, "Say nothing of that")->excludes(progress);
    command->callback([options] { translate(*options); });
}

}  // namespace headscope

// headscope translate: lines of text in, their translations out.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "app/command.h"
#include "app/translation_flags.h"
#include "infer/model_lookup.h"
#include "infer/translation_stream.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct TranslateOptions {
    TranslationFlags translation;
    std::string input = "-";
    bool stats = false;
    bool scores = false;
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

void write_results(const std::vector<TranslatedSentence>& results, bool scores) {
    std::string text;
    for (const TranslatedSentence& sentence : results) {
        text += scores ? fmt::format("{:.4f}\t{}\n", sentence.score, sentence.text) : sentence.text + "\n";
    }
    write_output(text);
}

void print_stats(const StreamTotals& totals, const Backend& backend, double ready, double first) {
    constexpr double kMebi = 1024.0 * 1024.0;
    tell(fmt::format(
        "{} lines, {} source and {} target tokens in {:.2f} s: {:.1f} target tokens/s on {} ({}); ready after "
        "{:.2f} s, first translation after {:.2f} s, {} cut at the longest output, {:.0f} MiB on the device at most",
        totals.lines, totals.source_tokens, totals.target_tokens, totals.seconds,
        totals.seconds > 0.0 ? static_cast<double>(totals.target_tokens) / totals.seconds : 0.0, backend.device().id,
        backend.device().name, ready, first, totals.cut, static_cast<double>(backend.memory().peak) / kMebi));
}

void translate(const TranslateOptions& options) {
    const Clock::time_point start = Clock::now();
    const Input file(options.input);
    const std::string model = find_model(options.translation.model);
    const std::unique_ptr<Backend> backend = open_device(options.translation.device);
    const TranslationOptions translation = translation_options(options.translation, *backend);
    const Translator translator(*backend, model, chosen_arithmetic(*backend, options.translation.precision).storage);
    const double ready = seconds_since(start);

    LineSource input(file.descriptor(), options.input == "-" ? "standard input" : "'" + options.input + "'");
    std::optional<double> first;
    const StreamSinks sinks{.translated =
                                [&](const std::vector<TranslatedSentence>& next) {
                                    first = first.value_or(seconds_since(start));
                                    write_results(next, options.scores);
                                },
                            .complaint = [](const std::string& message) { tell("headscope: " + message); }};
    const StreamTotals totals = translate_stream(translator, input, sinks, translation);
    if (options.stats) {
        print_stats(totals, *backend, ready, first.value_or(0.0));
    }
    if (totals.problems > 0) {
        throw Error(fmt::format("{} of {} lines were not translated; their lines of the output are empty",
                                totals.problems, totals.lines));
    }
}

}  // namespace

void add_translate_command(CLI::App& app) {
    auto options = std::make_shared<TranslateOptions>();
    CLI::App* command = app.add_subcommand("translate", "Translate text, one sentence a line");
    command->footer(
        "Reads FILE or standard input and writes one line for each, in order, as soon as it and all before it are\n"
        "translated. So that lines of similar length go together, those that are there already are taken in windows:\n"
        "16 lines, then as many as take about 5 seconds (16 to 2048). No line waits for a later window.\n"
        "A line that cannot be translated (too long, not UTF-8) is named, gives an empty line, and makes the exit\n"
        "code 1.\n\n"
        "Examples:\n"
        "  echo 'The weather is nice today.' | headscope translate\n"
        "  headscope translate --greedy --stats assets/examples/everyday.en\n"
        "  headscope translate --device vulkan --beam 8 --scores < text.en > text.de\n"
        "  headscope translate --model runs/my-model");
    command->add_option("FILE", options->input, "UTF-8 text; - is standard input")->capture_default_str();
    add_translation_flags(*command, options->translation);
    command->add_flag("--stats", options->stats, "Say on standard error how much was translated how fast");
    command->add_flag("--scores", options->scores, "Write \"score TAB translation\"; the score is log P / penalty");
    command->callback([options] { translate(*options); });
}

}  // namespace headscope

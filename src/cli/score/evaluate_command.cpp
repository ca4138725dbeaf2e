// headscope evaluate: how close translations are to those of people.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/models_option.h"
#include "cli/score/evaluation_report.h"
#include "cli/score/test_set.h"
#include "cli/translate/translation_flags.h"
#include "engine/engine.h"
#include "eval/evaluation.h"
#include "infer/split_news.h"
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "options/option_values.h"
#include "support/check.h"

namespace headscope {
namespace {

struct EvaluateOptions {
    std::vector<std::string> models;  // none: see find_models
    TranslationFlags translation;
    TestSetFiles files;
    BleuOptions bleu;
    std::string output;
    bool by_length = false;
    bool json = false;
};

// Says how far a long evaluation is: the first time after kEvery seconds.
class Progress {
public:
    explicit Progress(std::size_t sentences) : sentences_(sentences) {}
    void show(std::size_t finished) {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ >= kEvery) {
            last_ = now;
            tell(fmt::format("{} of {} sentences are translated", finished, sentences_));
        }
    }

private:
    static constexpr std::chrono::seconds kEvery{5};
    std::size_t sentences_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

struct Translations {
    std::vector<std::string> lines;
    std::size_t problems = 0;
    std::optional<TranslatedBy> by;  // none where they were given
};

// A source that cannot be translated counts as an empty translation.
Translations translate_all(const LineTranslator& translator, const TranslationOptions& options,
                           const std::vector<std::string>& source) {
    Translations translations;
    Progress progress(source.size());
    SplitNews split;
    translator.translate_in_order(
        numbered(source), options, [&](std::vector<TranslatedSentence> next, std::size_t finished) {
            for (TranslatedSentence& sentence : next) {
                const std::string news = sentence.problem.empty() ? split.next(sentence.remark) : sentence.problem;
                if (!news.empty()) {
                    tell(fmt::format("headscope: sentence {}: {}", translations.lines.size() + 1, news));
                }
                translations.problems += sentence.problem.empty() ? 0 : 1;
                translations.lines.push_back(std::move(sentence.text));
            }
            progress.show(finished);
        });
    if (const std::string news = split.end(); !news.empty()) {
        tell("headscope: " + news);
    }
    return translations;
}

// Lines that the test set leaves out stay empty, so that the file goes with the source.
void write_lines(const std::string& path, const std::vector<std::string>& lines, const TestSet& set) {
    std::string text;
    std::size_t written = 0;
    auto left_out = set.left_out.begin();
    const auto skip = [&] {
        for (; left_out != set.left_out.end() && *left_out == written; ++left_out, ++written) {
            text += "\n";
        }
    };
    for (const std::string& line : lines) {
        skip();
        text += line + "\n";
        ++written;
    }
    skip();
    atomic_write_file(path, text);
}

// What the model makes of the sources, and of the references.
Translations ask_model(const EvaluateOptions& options, const TestSet& set, Evaluation& evaluation) {
    const OpenOptions& open = options.translation.open_options;
    const std::vector<std::string> models = find_models(options.models, open.settings);
    const auto warn = [](const std::string& message) { tell("headscope: " + message); };
    const Engine engine({.devices = {options.translation.device},
                         .models = models,
                         .precision = options.translation.precision,
                         .open = open},
                        warn);
    const TranslationOptions translation = translation_options(
        options.translation, engine.first().translator().decoding_choices(), engine.first().arithmetic().compute);
    Translations translations = translate_all(Service(engine, warn), translation, set.source);
    if (!options.output.empty()) {
        write_lines(options.output, translations.lines, set);
    }
    translations.by = {models, engine.first().info(), options.translation.precision, translation};
    engine.first().run([&](Backend& backend, const Translator& translator) {
        evaluation.forced = force_references(backend, translator, set.source, set.references, translation);
    });
    return translations;
}

void evaluate(const EvaluateOptions& options, const ResultOrigin& origin) {
    const TestSetFiles& files = options.files;
    if (options.output == "-") {
        throw Error("--output: standard output has the scores: give a file; translate writes translations there");
    }
    if (!files.hypotheses.empty() && !files.source.empty() && !options.by_length) {
        throw Error("--source is of no use beside --hypotheses but for --by-length: give one of the two alone");
    }
    if (options.by_length && files.tsv.empty() && files.source.empty()) {
        throw Error("--by-length needs to know how long the sources are: give --source FILE, or --tsv FILE");
    }
    InputFiles inputs(options.translation.open_options.settings);
    inputs.add({files.tsv, files.source, files.hypotheses});
    inputs.add(files.references);
    if (files.hypotheses.empty()) {
        inputs.add(find_models(options.models, options.translation.open_options.settings));
    }
    inputs.refuse("-");
    inputs.refuse(options.output);
    AtomicFile::require_replaceable(options.output);
    TestSet set = read_test_set(files);
    Evaluation evaluation;
    evaluation.lines_left_out = set.lines_left_out;
    Translations translations;
    if (files.hypotheses.empty()) {
        translations = ask_model(options, set, evaluation);
    } else {
        translations.lines = std::move(set.hypotheses);
    }
    evaluation.scores = score_translations(translations.lines, set.references, options.bleu);
    if (options.by_length) {
        evaluation.by_length = score_by_length(set.source, translations.lines, set.references, options.bleu);
    }
    write_output(options.json ? evaluation_json(evaluation, origin, translations.by) : evaluation_table(evaluation));
    if (translations.problems > 0) {
        throw Error(fmt::format("{} of {} sentences were not translated and counted as empty", translations.problems,
                                set.source.size()));
    }
}

void add_scoring(CLI::App& command, EvaluateOptions& options) {
    command
        .add_option_function<std::string>(
            "--tokenize",
            [&options](const std::string& name) {
                options.bleu.tokens = name == "none" ? BleuTokens::None : BleuTokens::Mteval13a;
            },
            "What BLEU takes for words: 13a (default), or none for texts that are tokenised already")
        ->check(CLI::IsMember({"13a", "none"}));
    command.add_flag("--lowercase", options.bleu.lowercase, "BLEU and chrF2 without regard to case");
    command.add_flag("--by-length", options.by_length, "Also a table by the number of words of the source");
    command.add_flag("--json", options.json, "For programs: one object, with what it takes to have its numbers again");
}

}  // namespace

void add_evaluate_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words) {
    auto options = std::make_shared<EvaluateOptions>();
    options->translation.open_options = open_options;
    CLI::App* command = app.add_subcommand("evaluate", "Score translations against references: BLEU, chrF2 and more");
    command->footer(
        "BLEU and chrF2 are sacreBLEU's, with its signatures. A model is also told the references: perplexity is\n"
        "unsmoothed, the calibration error is how far the likeliest piece's probability is from how often it is "
        "right. Several models are one by the mean of their probabilities. Lines with an empty side are left out:\n"
        "JSON has their number as lines_left_out, and as left_out that of references too long for the model.\n\n"
        "Examples:\n"
        "  headscope evaluate --tsv test.tsv --model runs/my-model --beam 4 --by-length\n"
        "  headscope evaluate --tsv test.tsv --model runs/my-model --model runs/my-model\n"
        "  headscope evaluate --source test.en --reference test.de --output mine.de\n"
        "  headscope evaluate --hypotheses theirs.de --reference test.de\n"
        "  headscope evaluate --hypotheses theirs.de --reference test.de --tokenize none --lowercase --json");
    TestSetFiles& files = options->files;
    CLI::Option* tsv = command->add_option(
        "--tsv", files.tsv, "\"source TAB reference\" lines, plain or packed by gzip, zstd, xz or bzip2");
    command->add_option("--source", files.source, "Sentences to translate, one a line")->excludes(tsv);
    command
        ->add_option("--reference", files.references,
                     "Their translations by people, one a line; may be given several times")
        ->allow_extra_args(false)
        ->excludes(tsv);
    CLI::Option* hypotheses =
        command->add_option("--hypotheses", files.hypotheses, "Score these translations; no model is used");
    hypotheses->excludes(command->add_option("--output", options->output, "Also write the translations to this file"));
    command->add_option("--limit", files.limit, "Only the first so many sentences; 0: all")->check(whole_number(0));
    add_scoring(*command, *options);
    const std::size_t before = command->get_options().size();
    add_models_option(*command, options->models, "translate and are told the references together");
    add_search_flags(*command, options->translation);
    const std::vector<CLI::Option*> all = command->get_options({});
    for (std::size_t i = before; i < all.size(); ++i) {
        hypotheses->excludes(all[i]);  // options of a model that would not be used
    }
    command->callback([options, count, words] { evaluate(*options, result_origin(count, words)); });
}

}  // namespace headscope

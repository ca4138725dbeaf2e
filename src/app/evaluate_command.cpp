// headscope evaluate: how close translations are to those of people.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/translation_flags.h"
#include "data/corpus.h"
#include "eval/bleu.h"
#include "eval/exact_match.h"
#include "infer/model_lookup.h"
#include "io/atomic_file.h"
#include "registry/registry.h"
#include "support/check.h"
#include "text/lines.h"

namespace headscope {
namespace {

struct EvaluateOptions {
    TranslationFlags translation;
    std::string tsv, source, reference, hypotheses, output;
    std::size_t limit = 0;
    bool json = false;
};

struct TestSet {
    std::vector<std::string> source;  // empty where hypotheses are given without sources
    std::vector<std::string> reference;
};

TestSet read_test_set(const EvaluateOptions& options) {
    if (!options.tsv.empty()) {
        ParallelText text = read_tsv(options.tsv);
        if (text.dropped_empty > 0 && !options.hypotheses.empty()) {
            throw Error(fmt::format(
                "{} of the lines of '{}' are empty or have an empty side, so that the lines of '{}' could not be told "
                "to belong to the others: take them out of both",
                text.dropped_empty, options.tsv, options.hypotheses));
        }
        if (text.dropped_empty > 0) {
            tell(fmt::format("headscope: {} lines of '{}' are empty or have an empty side, and are left out",
                             text.dropped_empty, options.tsv));
        }
        return {std::move(text.source), std::move(text.target)};
    }
    if (options.reference.empty()) {
        throw Error("nothing to compare with: give --tsv FILE, or --reference FILE with --source or --hypotheses");
    }
    TestSet set{options.source.empty() ? std::vector<std::string>() : read_lines(options.source),
                read_lines(options.reference)};
    if (options.hypotheses.empty() && set.source.size() != set.reference.size()) {
        throw Error(
            options.source.empty()
                ? "nothing to translate: give --source FILE, or --hypotheses FILE"
                : fmt::format("'{}' has {} lines and '{}' has {}: line i of one must be the translation of line i "
                              "of the other",
                              options.source, set.source.size(), options.reference, set.reference.size()));
    }
    return set;
}

void shorten(std::vector<std::string>& lines, std::size_t limit) {
    if (limit > 0 && lines.size() > limit) {
        lines.resize(limit);
    }
}

struct Translations {
    std::vector<std::string> lines;
    std::size_t problems = 0;
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

// A source that cannot be translated counts as an empty translation.
Translations translate_all(const EvaluateOptions& options, const std::vector<std::string>& source) {
    const std::string model = find_model(options.translation.model);
    const std::unique_ptr<Backend> backend = open_device(options.translation.device);
    const TranslationOptions translation = translation_options(options.translation, *backend);
    const Translator translator(*backend, model, chosen_arithmetic(*backend, options.translation.precision).storage);
    Translations translations;
    Progress progress(source.size());
    translator.translate_in_order(source, translation, [&](std::vector<TranslatedSentence> next, std::size_t finished) {
        for (TranslatedSentence& sentence : next) {
            if (!sentence.problem.empty()) {
                ++translations.problems;
                tell(fmt::format("headscope: sentence {}: {}", translations.lines.size() + 1, sentence.problem));
            }
            translations.lines.push_back(std::move(sentence.text));
        }
        progress.show(finished);
    });
    return translations;
}

void write_lines(const std::string& path, const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    atomic_write_file(path, text);
}

void print_scores(const BleuScore& bleu, std::size_t exact, std::size_t sentences, bool as_json) {
    const double share = sentences == 0 ? 0.0 : static_cast<double>(exact) / static_cast<double>(sentences);
    if (as_json) {
        const nlohmann::ordered_json json = {{"bleu", bleu.score},
                                             {"signature", bleu.signature()},
                                             {"precisions", bleu.precisions},
                                             {"brevity_penalty", bleu.brevity_penalty},
                                             {"hypothesis_tokens", bleu.system_length},
                                             {"reference_tokens", bleu.reference_length},
                                             {"sentences", sentences},
                                             {"exact_matches", exact}};
        write_output(json.dump(2) + "\n");
        return;
    }
    write_output(fmt::format("{}\nsignature   {}\nexact match {} of {} sentences ({:.1f} %)\n", bleu.to_string(),
                             bleu.signature(), exact, sentences, 100.0 * share));
}

void evaluate(const EvaluateOptions& options) {
    TestSet set = read_test_set(options);
    shorten(set.source, options.limit);
    shorten(set.reference, options.limit);
    Translations translations;
    if (options.hypotheses.empty()) {
        translations = translate_all(options, set.source);
    } else {
        translations.lines = read_lines(options.hypotheses);
        shorten(translations.lines, options.limit);
    }
    if (!options.output.empty()) {
        write_lines(options.output, translations.lines);
    }
    const BleuScore bleu = corpus_bleu(translations.lines, set.reference);
    print_scores(bleu, count_exact_matches(translations.lines, set.reference), set.reference.size(), options.json);
    if (translations.problems > 0) {
        throw Error(fmt::format("{} of {} sentences were not translated and counted as empty", translations.problems,
                                set.source.size()));
    }
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
    auto options = std::make_shared<EvaluateOptions>();
    CLI::App* command = app.add_subcommand("evaluate", "Score translations against references: BLEU and exact match");
    command->footer(
        "BLEU is sacreBLEU's default (13a tokens, case kept, exponential smoothing).\n\n"
        "Examples:\n"
        "  headscope evaluate --tsv test.tsv --model runs/my-model --beam 4\n"
        "  headscope evaluate --source test.en --reference test.de --output mine.de\n"
        "  headscope evaluate --hypotheses theirs.de --reference test.de");
    CLI::Option* tsv = command->add_option("--tsv", options->tsv, "\"source TAB reference\" lines, plain or gzip");
    CLI::Option* source = command->add_option("--source", options->source, "Sentences to translate, one a line");
    command->add_option("--reference", options->reference, "Their translations by people, one a line")->excludes(tsv);
    CLI::Option* hypotheses =
        command->add_option("--hypotheses", options->hypotheses, "Score these translations; no model is used");
    source->excludes(tsv)->excludes(hypotheses);
    command->add_option("--output", options->output, "Also write the translations to this file");
    command->add_option("--limit", options->limit, "Only the first so many sentences");
    command->add_flag("--json", options->json, "For programs: one object");
    add_translation_flags(*command, options->translation);
    command->callback([options] { evaluate(*options); });
}

}  // namespace headscope

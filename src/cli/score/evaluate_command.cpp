// headscope evaluate: scores translations against references, and language models against texts.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/opened_engine.h"
#include "cli/score/calibration_picture.h"
#include "cli/score/evaluate_answers.h"
#include "cli/score/evaluate_labelled.h"
#include "cli/score/evaluate_text.h"
#include "cli/score/evaluation_report.h"
#include "cli/score/model_family.h"
#include "cli/score/reference_scores.h"
#include "cli/score/scored_responses.h"
#include "cli/score/test_set.h"
#include "cli/translate/translation_flags.h"
#include "engine/text_translator.h"
#include "eval/evaluation.h"
#include "infer/split_news.h"
#include "io/atomic_file.h"
#include "io/byte_order_mark.h"
#include "io/input_files.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "options/progress.h"
#include "options/text_options.h"
#include "paint/picture_file.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct EvaluateOptions {
    TranslationFlags translation;
    TestSetFiles files;
    EvaluatedText text;
    BleuOptions bleu;
    std::string output, calibration;
    ResponsesFile ranked;
    std::string labelled, answers;
    bool stemmed = false;
    bool by_length = false;
};

struct Translations {
    std::vector<std::string> lines;
    std::size_t problems = 0;
    std::optional<TranslatedBy> by;  // std::nullopt for --hypotheses
};

// A source that cannot be translated counts as an empty translation.
Translations translate_all(const TextTranslator& translator, const DecodingOptions& options,
                           const std::vector<std::string>& source) {
    Translations translations;
    ProgressMeter progress("sentence", std::ssize(source));
    SplitNews split;
    translator.translate_in_order(numbered(source), options, [&](std::vector<TextResult> next, std::size_t finished) {
        for (TextResult& sentence : next) {
            const std::string news = sentence.problem.empty() ? split.next(sentence.remark) : sentence.problem;
            if (!news.empty()) {
                progress.clear();
                (sentence.problem.empty() ? log_line : log_error)(
                    fmt::format("headscope: sentence {}: {}", translations.lines.size() + 1, news));
            }
            translations.problems += sentence.problem.empty() ? 0 : 1;
            translations.lines.push_back(std::move(sentence.text));
        }
        progress.done(static_cast<std::int64_t>(finished));
    });
    if (const std::string news = split.end(); !news.empty()) {
        log_line("headscope: " + news);
    }
    return translations;
}

// Lines that the test set leaves out stay empty, so that line numbers match the source.
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

// Translates the sources, and computes the probabilities of the references.
Translations ask_model(const EvaluateOptions& options, const TestSet& set, Evaluation& evaluation) {
    const CommonOptions& common = options.translation.common;
    const std::vector<std::string> models = common.find_models();
    require_files_of_family(models.front(), "");
    OpenedEngine opened(common, models, log_of_command);
    require_architecture(opened.directory(), Architecture::EncoderDecoder);
    const Generation generation = opened.directory().config.generation;
    const bool fills_in = generation == Generation::MaskPredict;
    if (fills_in && !options.calibration.empty()) {
        throw UsageError(
            "--calibration needs the probabilities of references, and a model that fills in masks has none");
    }
    const DecodingOptions translation =
        translation_options(options.translation, *opened.model, opened.first().arithmetic.compute);
    Translations translations = translate_all(TextTranslator(opened.engine, opened.model), translation, set.source);
    if (!options.output.empty()) {
        write_lines(options.output, translations.lines, set);
    }
    translations.by = {{models, opened.engine.devices(), common.precision}, translation, generation};
    if (fills_in) {
        opened.tell_idle();
        return translations;  // no probability of a whole reference
    }
    std::vector<std::vector<std::string>> references = set.references;
    for (std::vector<std::string>& reference : references) {  // a byte order mark is text only to BLEU and chrF
        reference.front().erase(0, reference.front().starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
    }
    evaluation.forced = score_references(opened, set.source, references, translation);
    opened.tell_idle();
    if (!options.calibration.empty()) {
        write_calibration(evaluation.forced->statistics, models, options.calibration);
    }
    return translations;
}

void evaluate(const EvaluateOptions& options, const ResultOrigin& origin) {
    const TestSetFiles& files = options.files;
    if (options.output == "-") {
        throw UsageError("--output needs a file: standard output has the scores");
    }
    if (!files.hypotheses.empty() && !files.source.empty() && !options.by_length) {
        throw UsageError("--source with --hypotheses is only used by --by-length: leave one of the two out");
    }
    if (options.by_length && files.tsv.empty() && files.source.empty()) {
        throw UsageError("--by-length needs the sources: give --source FILE or --tsv FILE");
    }
    const CommonOptions& common = options.translation.common;
    InputFiles inputs(common.open.settings);
    inputs.add({files.tsv, files.source, files.hypotheses});
    inputs.add(files.references);
    if (files.hypotheses.empty()) {
        inputs.add(common.find_models());
    }
    inputs.refuse("-");
    inputs.refuse(options.output);
    inputs.refuse(options.calibration);
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
    evaluation.scores = score_translations(translations.lines, set.references, options.bleu, options.stemmed);
    if (options.by_length) {
        evaluation.by_length =
            score_by_length(set.source, translations.lines, set.references, options.bleu, options.stemmed);
    }
    write_output(common.json ? evaluation_json(evaluation, origin, translations.by) : evaluation_table(evaluation));
    if (translations.problems > 0) {
        throw Error(fmt::format("{} of {} sentences were not translated; they count as empty", translations.problems,
                                set.source.size()));
    }
}

// --text, --documents, --ranked, --labelled and --answers, without all options of the command that have no meaning for
// a language model.
void add_text(CLI::App& command, EvaluateOptions& options) {
    const std::vector<CLI::Option*> others = command.get_options({});
    command.option_defaults()->group("Data");
    CLI::Option* file = command.add_option("--text", options.text.file, "Text for a language model; may be compressed")
                            ->type_name("FILE");
    add_choice(
        command, "--documents", kDocumentForms,
        [&text = options.text](std::size_t form) { text.form = static_cast<DocumentForm>(form); },
        "Documents of --text: one per line, or separated by empty lines")
        ->needs(file);
    CLI::Option* responses =
        command
            .add_option("--ranked", options.ranked.path,
                        "Ranked responses to prompts, one JSON object per line, for a reward model "
                        "or another causal model")
            ->type_name("FILE")
            ->excludes(file);
    add_response_template(command, options.ranked.chat)->needs(responses);
    CLI::Option* texts = command
                             .add_option("--labelled", options.labelled,
                                         "Texts with classes or numbers, one JSON object per line, for a model that "
                                         "gives them")
                             ->type_name("FILE")
                             ->excludes(file)
                             ->excludes(responses);
    CLI::Option* questions =
        command
            .add_option("--answers", options.answers,
                        "Questions with contexts and answers, one JSON object per line, for a model that finds answers")
            ->type_name("FILE")
            ->excludes(file)
            ->excludes(responses)
            ->excludes(texts)
            ->excludes("--calibration");
    const std::vector<std::string> shared{"--help",      "--model",        "--device",
                                          "--precision", "--batch-tokens", "--calibration"};
    for (CLI::Option* other : others) {
        if (std::find(shared.begin(), shared.end(), other->get_name()) == shared.end()) {
            file->excludes(other);
            responses->excludes(other);
            texts->excludes(other);
            questions->excludes(other);
        }
    }
}

void add_files(CLI::App& command, TestSetFiles& files) {
    command.option_defaults()->group("Data");
    CLI::Option* tsv = command.add_option("--tsv", files.tsv, "Lines of \"source TAB reference\"; may be compressed")
                           ->type_name("FILE");
    command.add_option("--source", files.source, "Sentences to translate, one per line")
        ->type_name("FILE")
        ->excludes(tsv);
    command.add_option("--reference", files.references, "Reference translations, one per line; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->excludes(tsv);
    command.add_option("--limit", files.limit, "Only the first N sentences; 0: all")->check(whole_number(0));
}

void add_scoring(CLI::App& command, EvaluateOptions& options) {
    command.option_defaults()->group("Scores");
    command
        .add_option_function<std::string>(
            "--tokenize",
            [&options](const std::string& name) {
                options.bleu.tokens = name == "none" ? BleuTokens::None : BleuTokens::Mteval13a;
            },
            "BLEU's tokenizer; none: the text is tokenized already")
        ->check(CLI::IsMember({"13a", "none"}))
        ->default_str("13a");
    command.add_flag("--lowercase", options.bleu.lowercase, "Ignore case in BLEU and chrF2");
    command.add_flag("--split-compounds", options.bleu.split_compounds,
                     "BLEU splits words at hyphens, as the paper's scores do");
    command.add_flag("--stem", options.stemmed, "ROUGE compares English words by their stems (Porter's)");
    command.add_flag("--by-length", options.by_length, "Also print the scores by the number of source words");
}

}  // namespace

void add_evaluate_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words) {
    auto options = std::make_shared<EvaluateOptions>();
    CommonOptions& common = options->translation.common;
    common.open = open_options;
    CLI::App* command =
        app.add_subcommand("evaluate", "Score translations against references, or language models against texts")
            ->group("Translate");
    command->footer(
        "Translates with a model, or scores --hypotheses. BLEU and chrF2 equal sacreBLEU's, with its signatures,\n"
        "and ROUGE, for summaries, rouge-score's.\n"
        "With a model it also prints the perplexity of the references (unsmoothed) and the calibration error: the gap\n"
        "between the probability of the most likely piece and how often it is right. Lines with an empty side are\n"
        "left out. docs/translating.md describes the JSON.\n"
        "Several devices share the lines; their number does not change the scores.\n"
        "For a language model, prints the perplexity of --text per piece and per word, and the bits per byte: see\n"
        "docs/language-models.md. --ranked prints how often the scores of responses order them as people did, and\n"
        "--labelled how well a model gives texts their classes or numbers; --answers prints exact match and F1 of the\n"
        "answers that it finds in texts: see docs/classifying.md.\n\n"
        "Examples:\n"
        "  headscope evaluate --tsv test.tsv --model runs/my-model --beam 4 --by-length\n"
        "  headscope evaluate --tsv test.tsv --model runs/my-model --model runs/my-model\n"
        "  headscope evaluate --tsv test.tsv --model runs/my-model --calibration calibration.svg\n"
        "  headscope evaluate --source test.en --reference test.de --output mine.de\n"
        "  headscope evaluate --tsv test.tsv --device vulkan:0,vulkan:1,cpu\n"
        "  headscope evaluate --hypotheses theirs.de --reference test.de\n"
        "  headscope evaluate --hypotheses theirs.de --reference test.de --tokenize none --lowercase --json\n"
        "  headscope evaluate --hypotheses theirs.de --reference test.de --tokenize none --split-compounds\n"
        "  headscope evaluate --hypotheses summaries.en --reference test.en --stem\n"
        "  headscope evaluate --text test.txt --model out/lm\n"
        "  headscope evaluate --ranked ranked.jsonl --model out/reward\n"
        "  headscope evaluate --labelled reviews.jsonl --model out/mood\n"
        "  headscope evaluate --answers questions.jsonl --model bert-squad");
    add_files(*command, options->files);
    CLI::Option* hypotheses =
        command->add_option("--hypotheses", options->files.hypotheses, "Score these translations; no model is used")
            ->type_name("FILE");
    const std::size_t before = command->get_options().size();
    common.add_models(*command);
    common.add_device_list(*command);
    common.add_precision(*command);
    add_search_flags(*command, options->translation, false);
    add_decoding_flags(*command, options->translation.choices, {"batch_tokens"});
    command->option_defaults()->group("Output");
    command->add_option("-o,--output", options->output, "Also write the translations to this file")->type_name("FILE");
    command
        ->add_option("--calibration", options->calibration,
                     "Also draw how often the likeliest piece is right by its probability: a picture, such as .svg")
        ->type_name("FILE");
    const std::vector<CLI::Option*> all = command->get_options({});
    for (std::size_t i = before; i < all.size(); ++i) {
        hypotheses->excludes(all[i]);  // they need a model
    }
    add_scoring(*command, *options);
    add_text(*command, *options);
    common.add_json(*command);
    command->callback([options, count, words] {
        const ResultOrigin origin = result_origin(count, words);
        if (!options->calibration.empty()) {
            require_picture_name(options->calibration);
            AtomicFile::require_replaceable(options->calibration);
        }
        TranslationFlags& flags = options->translation;
        const std::int64_t batch_tokens = flags.choices.applied_to({}).batch_tokens;
        if (!options->answers.empty()) {
            evaluate_answers(flags.common, options->answers, batch_tokens, origin);
            return;
        }
        if (!options->labelled.empty()) {
            evaluate_labelled(flags.common, options->labelled, batch_tokens, options->calibration, origin);
            return;
        }
        if (options->text.file.empty() && options->ranked.path.empty()) {
            evaluate(*options, origin);
            return;
        }
        flags.common.bundled_model = kCausalModel;
        if (options->ranked.path.empty()) {
            evaluate_text(flags.common, options->text, batch_tokens, options->calibration, origin);
        } else {
            evaluate_ranked(flags.common, options->ranked, batch_tokens, options->calibration, origin);
        }
    });
}

}  // namespace headscope

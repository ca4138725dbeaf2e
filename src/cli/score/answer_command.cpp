// headscope answer: the answers to questions that stand in texts.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/score/answer_scorer.h"
#include "data/question_reader.h"
#include "io/input_files.h"
#include "options/option_values.h"
#include "options/text_options.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct AnswerOptions {
    CommonOptions common;
    std::string input = "-", question, context;
    std::int64_t batch_tokens = 1024, longest = AnswerFinder::kLongestAnswer;
};

// The questions of a file, or the one of the command line.
class Questions {
public:
    explicit Questions(const AnswerOptions& options) {
        if (options.question.empty()) {
            reader_.emplace(options.input, false);
        } else {
            only_ = ScoredLine{.line = 1, .text = options.question, .pair = options.context};
        }
    }

    bool next(ScoredLine& line) {
        if (!reader_) {
            const bool any = only_.has_value();
            line = any ? *std::exchange(only_, std::nullopt) : line;
            return any;
        }
        AskedQuestion question;
        if (!reader_->next(question)) {
            return false;
        }
        line.line = reader_->lines().number();
        line.text = std::move(question.question);
        line.pair = std::move(question.context);
        return true;
    }

    std::string name() const { return reader_ ? reader_->lines().name() : "--question"; }

private:
    std::optional<QuestionReader> reader_;
    std::optional<ScoredLine> only_;
};

std::string json_of(const ScoredLine& line, const AnswerScorer& scorer) {
    nlohmann::ordered_json json{{"line", line.line}, {"question", line.text}};
    if (!line.problem.empty()) {
        json["problem"] = line.problem;
        return json_row(json);
    }
    const SpanAnswer answer = scorer.answer(line);
    json.update({{"answer", answer.text},
                 {"begin", answer.span.begin},
                 {"end", answer.span.end},
                 {"probability", answer.probability},
                 {"score", answer.score}});
    return json_row(json);
}

void answer(const AnswerOptions& options) {
    if (options.question.empty() != options.context.empty()) {
        throw UsageError("--question and --context belong together: give both, or a file");
    }
    InputFiles inputs(options.common.open.settings);
    inputs.add(options.question.empty() ? options.input : "");
    inputs.add(options.common.find_models());
    inputs.refuse("-");
    Questions questions(options);
    AnswerScorer scorer(options.common, options.batch_tokens, options.longest);
    scorer.print_all([&](ScoredLine& line) { return questions.next(line); },
                     [&](const ScoredLine& line) {
                         return options.common.json    ? json_of(line, scorer)
                                : line.problem.empty() ? scorer.answer(line).text + "\n"
                                                       : "\n";
                     },
                     questions.name(), {.noun = "question", .to_do = "", .done = "answered"});
}

}  // namespace

void add_answer_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<AnswerOptions>();
    options->common.open = open_options;
    options->common.bundled_model = kMaskedModel;
    CLI::App* command =
        app.add_subcommand("answer", "Find the answers to questions in texts")->group("Language models");
    command->footer(
        "Prints the part of the context that answers a question best, by a model such as BertForQuestionAnswering. A\n"
        "context that is too long is read in parts. A file has an object a line: {\"question\": \"..\", \"context\": "
        "\"..\"}.\n"
        "docs/classifying.md describes --json.\n\n"
        "Examples:\n"
        "  headscope answer --model bert-squad --question 'Who sleeps?' --context 'The dog barks and the cat sleeps.'\n"
        "  headscope answer --model bert-squad questions.jsonl --json");
    command->option_defaults()->group("Data");
    CLI::Option* file = command->add_option(
        "FILE", options->input, "Questions with contexts, one JSON object a line; - or none: standard input");
    command->add_option("--question", options->question, "A question")->check(not_empty)->excludes(file);
    command->add_option("--context", options->context, "The text that holds its answer")
        ->check(not_empty)
        ->excludes(file);
    options->common.add_model(*command);
    options->common.add_device_list(*command);
    options->common.add_precision(*command);
    command->option_defaults()->group("Device");
    command->add_option("--batch-tokens", options->batch_tokens, "Pieces read at a time")
        ->check(whole_number(1, 10'000'000))
        ->capture_default_str();
    add_output(*command);
    options->common.add_json(*command);
    command->option_defaults()->group("Output");
    command->add_option("--longest", options->longest, "Pieces of an answer at most")
        ->check(whole_number(1, 10'000))
        ->capture_default_str();
    command->callback([options] { answer(*options); });
}

}  // namespace headscope

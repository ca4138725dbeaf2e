// headscope classify: the classes of texts with their probabilities, or numbers.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/score/text_scorer.h"
#include "io/input_files.h"
#include "options/option_values.h"
#include "options/text_options.h"
#include "support/check.h"
#include "text/lines.h"

namespace headscope {
namespace {

struct ClassifyOptions {
    CommonOptions common;
    std::string input = "-";
    std::int64_t batch_tokens = 1024;
    std::int64_t top = 0;
    bool pairs = false;
    std::vector<std::string> pictures;
};

// A line of the input; of two texts they are separated by TAB.
bool read_line(LineReader& reader, bool pairs, ScoredLine& line) {
    if (!reader.next_bytes(line.text)) {
        return false;
    }
    line.line = reader.number();
    if (!pairs) {
        return true;
    }
    const std::size_t tab = line.text.find('\t');
    if (tab == std::string::npos || line.text.find('\t', tab + 1) != std::string::npos) {
        throw Error(fmt::format("{} line {}: --pairs needs two texts with one TAB between them", reader.name(),
                                reader.number()));
    }
    line.pair = line.text.substr(tab + 1);
    line.text.resize(tab);
    return true;
}

// The pictures of the command line, or the lines of a file.
class ClassifiedInput {
public:
    explicit ClassifiedInput(const ClassifyOptions& options) : options_(options) {
        if (options.pictures.empty()) {
            reader_.emplace(options.input);
        }
    }
    bool next(ScoredLine& line) {
        if (reader_) {
            return read_line(*reader_, options_.pairs, line);
        }
        if (next_ == options_.pictures.size()) {
            return false;
        }
        line.text = options_.pictures[next_];
        line.line = ++next_;
        return true;
    }
    std::string name() const { return reader_ ? reader_->name() : "--picture"; }

private:
    const ClassifyOptions& options_;
    std::optional<LineReader> reader_;
    std::size_t next_ = 0;
};

constexpr double kGivenFrom = 0.5;  // of classes of which a text has any number

// The classes, the likeliest first.
std::vector<std::size_t> ordered(const std::vector<double>& probabilities, std::int64_t top) {
    std::vector<std::size_t> order(probabilities.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
    order.resize(std::min<std::size_t>(order.size(), top > 0 ? static_cast<std::size_t>(top) : order.size()));
    return order;
}

std::string text_of(const ScoredLine& line, const OutputConfig& output, std::int64_t top) {
    if (!line.problem.empty()) {
        return "\n";
    }
    if (!output.has_classes()) {
        return fmt::format("{:.4f}\n", line.scores.front().front());
    }
    const std::vector<double> probabilities = probabilities_of(output, line.scores.front());
    std::string text;
    for (const std::size_t one : ordered(probabilities, top)) {
        text += fmt::format("{}{}\t{:.4f}", text.empty() ? "" : "\t", output.labels[one], probabilities[one]);
    }
    return text + "\n";
}

std::string json_of(const ScoredLine& line, const OutputConfig& output, std::int64_t top, bool picture) {
    const std::vector<std::string>& labels = output.labels;
    nlohmann::ordered_json json{{"line", line.line}, {picture ? "picture" : "text", line.text}};
    if (line.pair) {
        json["pair"] = *line.pair;
    }
    if (!line.problem.empty()) {
        json["problem"] = line.problem;
    } else if (!output.has_classes()) {
        json["score"] = line.scores.front().front();
    } else {
        const std::vector<double> probabilities = probabilities_of(output, line.scores.front());
        const std::vector<std::size_t> order = ordered(probabilities, top);
        if (output.head == OutputHead::Classes) {
            json["label"] = labels[order.front()];
        } else {
            json["labels"] = nlohmann::json::array();
            for (const std::size_t one : ordered(probabilities, 0)) {
                if (probabilities[one] >= kGivenFrom) {
                    json["labels"].push_back(labels[one]);
                }
            }
        }
        for (const std::size_t one : order) {
            json["classes"].push_back(
                {{"label", labels[one]}, {"probability", probabilities[one]}, {"score", line.scores.front()[one]}});
        }
    }
    return json_row(json);
}

void classify(const ClassifyOptions& options) {
    ClassifiedInput input(options);
    InputFiles inputs(options.common.open.settings);
    inputs.add(options.pictures.empty() ? std::vector{options.input} : options.pictures);
    inputs.add(options.common.find_models());
    inputs.refuse("-");
    TextScorer scorer(options.common, options.batch_tokens);
    const bool reads_pictures = scorer.directory().config.input.patches();
    if (!options.pictures.empty() && !reads_pictures) {
        throw Error(
            fmt::format("{} reads text, and --picture gives a picture: give a text, or a model of pictures, "
                        "such as a ViTForImageClassification",
                        scorer.directory().path));
    }
    if (!scorer.has_classes() && options.top > 0) {
        throw Error("--top chooses among classes, and the model has a number: leave it out");
    }
    if (options.top > static_cast<std::int64_t>(scorer.labels().size())) {
        throw Error(fmt::format("--top {}: the model has {} classes ({})", options.top, scorer.labels().size(),
                                fmt::join(scorer.labels(), ", ")));
    }
    scorer.print_all([&](ScoredLine& line) { return input.next(line); },
                     [&](const ScoredLine& line) {
                         return options.common.json ? json_of(line, scorer.output(), options.top, reads_pictures)
                                                    : text_of(line, scorer.output(), options.top);
                     },
                     input.name(),
                     {.noun = reads_pictures ? "picture" : "text", .to_do = " to classify", .done = "classified"});
}

}  // namespace

void add_classify_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ClassifyOptions>();
    options->common.open = open_options;
    options->common.bundled_model = kMaskedModel;
    CLI::App* command =
        app.add_subcommand("classify", "Print the classes of texts or pictures, or numbers")->group("Language models");
    command->footer(
        "Prints \"class TAB probability\" for each line, the likeliest class first, with a TAB between classes; of a\n"
        "model that gives texts any number of classes each has a probability of its own; of a model with a number\n"
        "(regression) that. A line that cannot be read is reported on standard error, gives an\n"
        "empty line, and makes the exit code 1. docs/classifying.md says how to train a model and describes --json.\n\n"
        "Examples:\n"
        "  headscope classify --model out/mood --text 'What a lovely day!'\n"
        "  headscope classify --model out/mood reviews.txt --top 1\n"
        "  headscope classify --model out/entailment --pairs pairs.tsv --json\n"
        "  headscope classify --model vit --picture cat.png --top 1");
    command->option_defaults()->group("Data");
    CLI::Option* file = command->add_option("FILE", options->input,
                                            "One text a line, or one name of a picture; - or none: standard input");
    CLI::Option* text = add_text(*command, file);
    CLI::Option* pairs = command->add_flag("--pairs", options->pairs,
                                           "Lines of two texts, \"text TAB pair\", such as premise and hypothesis");
    command->add_option("--picture", options->pictures, "These PNG or JPEG files instead of a FILE")
        ->type_name("FILE..")
        ->excludes(file)
        ->excludes(text)
        ->excludes(pairs);
    options->common.add_model(*command);
    options->common.add_device_list(*command);
    options->common.add_precision(*command);
    command->option_defaults()->group("Device");
    command->add_option("--batch-tokens", options->batch_tokens, "Pieces classified at a time")
        ->check(whole_number(1, 10'000'000))
        ->capture_default_str();
    add_output(*command);
    options->common.add_json(*command);
    command->option_defaults()->group("Output");
    command->add_option("--top", options->top, "Print only the N likeliest classes")
        ->type_name("N")
        ->check(whole_number(1, 1 << 20));
    command->callback([options] { classify(*options); });
}

}  // namespace headscope

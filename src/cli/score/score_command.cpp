// headscope score: the probability that a model gives to existing translations or texts.
#include <algorithm>
#include <cmath>
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
#include "answers/word_json.h"
#include "cli/command.h"
#include "cli/opened_engine.h"
#include "cli/score/model_family.h"
#include "cli/score/scored_responses.h"
#include "cli/translate/unknown_note.h"
#include "data/pair_reader.h"
#include "engine/in_order.h"
#include "infer/scored_pair.h"
#include "io/input_files.h"
#include "model/family.h"
#include "options/common_options.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "options/text_options.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"
#include "text/lines.h"

namespace headscope {
namespace {

struct ScoreOptions {
    CommonOptions common;
    DecodingChoices choices;  // languages
    std::string tsv, source, target, text;
    ResponsesFile responses;
    std::int64_t batch_tokens = 1024;
    bool stats = false;
};

// The same lines of both sides; texts are targets of empty sources.
struct Pairs {
    std::vector<std::string> sources, targets;
};

class Input {
public:
    explicit Input(const ScoreOptions& options) {
        if (!options.text.empty()) {
            texts_.emplace(options.text);
        } else if (!options.tsv.empty()) {
            pairs_.emplace(options.tsv);
        } else if (!options.source.empty() && !options.target.empty()) {
            pairs_.emplace(options.source, options.target);
        } else {
            throw UsageError(
                "nothing to score: give --tsv FILE, or --source FILE and --target FILE; --text FILE for a language "
                "model");
        }
    }

    // Whether there is anything.
    bool begin() {
        has_next_ = next(source_, target_);
        return has_next_;
    }

    // As much as a device does at a time. `masks`: of a model that reads a text once for each of its pieces.
    std::optional<Pairs> next(std::int64_t batch_tokens, bool masks) {
        Pairs pairs;
        for (PartSize size(batch_tokens); has_next_ && !size.full(); has_next_ = next(source_, target_)) {
            const std::int64_t longer = std::max(pieces_of(source_), pieces_of(target_));
            size.add(masks ? longer * longer : longer);
            pairs.sources.push_back(std::move(source_));
            pairs.targets.push_back(std::move(target_));
        }
        return pairs.sources.empty() ? std::nullopt : std::optional(std::move(pairs));
    }

    const std::string& name() const { return pairs_ ? pairs_->name() : texts_->name(); }

private:
    bool next(std::string& source, std::string& target) {
        return pairs_ ? pairs_->next_raw(source, target) : texts_->next_bytes(target);
    }

    std::optional<PairReader> pairs_;
    std::optional<LineReader> texts_;  // for language models
    std::string source_, target_;      // the next ones
    bool has_next_ = false;
};

struct Totals {
    std::int64_t pairs = 0, problems = 0, tokens = 0, unknown = 0, empty = 0;
    double log_probability = 0.0;

    void add(const ScoredPair& pair) {
        ++pairs;
        if (!pair.problem.empty()) {
            ++problems;
            return;
        }
        if (pair.empty) {
            ++empty;
            return;
        }
        tokens += static_cast<std::int64_t>(pair.target_ids.size());
        unknown += pair.unknown ? 1 : 0;
        log_probability += pair.log_probability;
    }
};

std::string text_of(const ScoredPair& pair) {
    return pair.problem.empty() ? fmt::format("{:.4f}\t{:.4f}\n", pair.log_probability, pair.nll()) : "\n";
}

void print_stats(const Totals& totals, Architecture family) {
    const double nll = -totals.log_probability / static_cast<double>(totals.tokens);
    const bool translates = traits(family).reads_source;
    log_line(fmt::format("{}, {}: {} {:.4f}, {:.4f} nats per token, perplexity {:.4f}",
                         counted(totals.pairs - totals.problems - totals.empty, translates ? "pair" : "text"),
                         counted(totals.tokens, translates ? "target token" : "token"), traits(family).likelihood,
                         totals.log_probability, nll, std::exp(nll)));
}

void score(const ScoreOptions& options) {
    Input input(options);
    InputFiles inputs(options.common.open.settings);
    inputs.add({options.tsv, options.source, options.target, options.text});
    if (!input.begin()) {
        throw Error(input.name() + " has no sentence to score");
    }
    const std::vector<std::string> models = options.common.find_models();
    require_files_of_family(models.front(), options.text);
    inputs.add(models);
    inputs.refuse("-");
    OpenedEngine opened(options.common, models, log_of_command);
    const ModelDirectory& model = opened.directory();
    const Architecture family = model.config.architecture;
    const Languages languages = opened.model->search_options(options.choices).languages;
    Totals totals;
    const auto write = [&](const Pairs& pairs, const std::vector<ScoredPair>& scored) {
        std::string text;
        for (std::size_t i = 0; i < scored.size(); ++i) {
            totals.add(scored[i]);
            if (!scored[i].problem.empty()) {
                log_error(fmt::format("headscope: line {}: {}", totals.pairs, scored[i].problem));
            }
            text += options.common.json
                        ? json_row(score_json(model, totals.pairs, pairs.sources[i], pairs.targets[i], scored[i]))
                        : text_of(scored[i]);
        }
        write_output(text);
    };
    ask_in_order(
        opened.engine, opened.model, [&] { return input.next(options.batch_tokens, traits(family).fills_masks); },
        [&](const Pairs& pairs) {
            return ScoreRequest{pairs.sources, pairs.targets, options.batch_tokens, languages};
        },
        write);
    opened.tell_idle();
    const std::string what = traits(family).reads_source ? "targets" : "texts";
    if (totals.unknown > 0) {
        log_line("headscope: " +
                 unknown_note(totals.unknown, totals.pairs, what, "scored with the probability of the unknown piece"));
    }
    if (totals.empty > 0) {
        log_line(
            fmt::format("headscope: {} of {} {} are empty: only the end of the sentence is scored, and --stats "
                        "leaves them out",
                        totals.empty, totals.pairs, what));
    }
    if (first_is_given(model.config)) {
        log_line("headscope: " + first_given_note("text"));
    }
    if (options.stats && totals.tokens > 0) {
        print_stats(totals, family);
    }
    if (totals.problems > 0) {
        throw Error(fmt::format("{} of {} {} were not scored; their lines in the output are empty", totals.problems,
                                totals.pairs, traits(family).reads_source ? "pairs" : "texts"));
    }
}

}  // namespace

void add_score_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ScoreOptions>();
    CommonOptions& common = options->common;
    common.open = open_options;
    CLI::App* command =
        app.add_subcommand("score", "Print the probability of given translations or texts")->group("Translate");
    command->footer(
        "Prints \"log P TAB nll\" for each pair: the natural logarithm of the target's probability, and the mean loss\n"
        "per piece. Both include the end of the sentence; no length penalty applies. A pair that cannot be scored is\n"
        "reported on standard error, gives an empty line, and makes the exit code 1. For an empty target only the end\n"
        "of the sentence is scored. --json prints one object per pair, described in docs/translating.md.\n"
        "Language models score each line of --text. A masked one gives the pseudo-log-likelihood: each piece is "
        "masked\n"
        "once and predicted from all others.\n"
        "--responses prints the scores of each line's responses, separated by TAB: a reward model's, or the "
        "logarithms\n"
        "of their probabilities.\n"
        "Several devices share the lines; their number does not change the output.\n\n"
        "Examples:\n"
        "  headscope score --source test.en --target test.de\n"
        "  headscope score --tsv test.tsv --stats\n"
        "  headscope score --tsv test.tsv --device all\n"
        "  headscope score --tsv test.tsv --json --model runs/my-model\n"
        "  headscope score --text test.txt --model out/lm\n"
        "  headscope score --responses ranked.jsonl --model out/reward");
    command->option_defaults()->group("Data");
    CLI::Option* tsv =
        command
            ->add_option("--tsv", options->tsv, "Lines of \"source TAB target\"; may be compressed, as all files here")
            ->type_name("FILE");
    command->add_option("--source", options->source, "Sentences, one per line")->type_name("FILE")->excludes(tsv);
    command->add_option("--target", options->target, "Their translations, one per line")
        ->type_name("FILE")
        ->excludes(tsv);
    command->add_option("--text", options->text, "Text for a language model, one per line")
        ->type_name("FILE")
        ->excludes("--tsv")
        ->excludes("--source")
        ->excludes("--target");
    command
        ->add_option("--responses", options->responses.path,
                     "Prompts with responses, one JSON object per line, for a reward model or another causal model")
        ->type_name("FILE")
        ->excludes("--tsv")
        ->excludes("--source")
        ->excludes("--target")
        ->excludes("--text");
    add_response_template(*command, options->responses.chat)->needs("--responses");
    add_decoding_flags(*command, options->choices, {"source_language", "target_language", "task_prefix"});
    common.add_models(*command);
    common.add_device_list(*command);
    common.add_precision(*command);
    command->option_defaults()->group("Device");
    command->add_option("--batch-tokens", options->batch_tokens, "Pieces of the longer side scored at a time")
        ->check(whole_number(1, 10'000'000))
        ->capture_default_str();
    add_output(*command);
    common.add_json(*command);
    command->option_defaults()->group("Output");
    command->add_flag("--stats", options->stats, "Print the totals of all pairs on standard error")
        ->excludes("--responses");
    for (const char* language : {"--source-language", "--target-language", "--task-prefix"}) {
        command->get_option(language)->excludes("--responses");
    }
    command->callback([options] {
        if (!options->text.empty() || !options->responses.path.empty()) {
            options->common.bundled_model = kCausalModel;
        }
        if (options->responses.path.empty()) {
            score(*options);
        } else {
            print_response_scores(options->common, options->responses, options->batch_tokens);
        }
    });
}

}  // namespace headscope

// headscope score: how likely a model finds translations that are there already.
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/models_option.h"
#include "cli/translate/unknown_note.h"
#include "data/pair_reader.h"
#include "engine/model_device.h"
#include "infer/scored_pair.h"
#include "io/input_files.h"
#include "options/option_values.h"
#include "options/precision_option.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope {
namespace {

struct ScoreOptions {
    OpenOptions open_options;
    std::vector<std::string> models;  // none: see find_model
    std::string device, tsv, source, target;
    std::int64_t batch_tokens = 1024;
    Precision precision = Precision::F32;
    bool json = false;
    bool stats = false;
};

// Some lines of both sides.
struct Pairs {
    std::vector<std::string> sources, targets;
};

PairReader open_pairs(const ScoreOptions& options) {
    if (!options.tsv.empty()) {
        return PairReader(options.tsv);
    }
    if (options.source.empty() || options.target.empty()) {
        throw Error("nothing to score: give --tsv FILE, or --source FILE and --target FILE");
    }
    return {options.source, options.target};
}

// Empty at the end.
Pairs next_pairs(PairReader& reader) {
    constexpr std::size_t kAtATime = 2048;
    Pairs pairs;
    for (std::string source, target; pairs.sources.size() < kAtATime && reader.next_raw(source, target);) {
        pairs.sources.push_back(std::move(source));
        pairs.targets.push_back(std::move(target));
    }
    return pairs;
}

bool has_empty_target(const ScoredPair& pair) {
    return pair.target_ids.size() == 1;  // its end
}

struct Totals {
    std::int64_t pairs = 0, problems = 0, tokens = 0, unknown = 0, empty = 0;
    double log_probability = 0.0;

    void add(const ScoredPair& pair) {
        ++pairs;
        if (!pair.problem.empty()) {
            ++problems;
            return;
        }
        if (has_empty_target(pair)) {
            ++empty;
            return;
        }
        tokens += static_cast<std::int64_t>(pair.target_ids.size());
        unknown += pair.unknown ? 1 : 0;
        log_probability += pair.log_probability;
    }
};

std::string json_of(const Tokenizer& tokenizer, std::int64_t line, const std::string& source, const std::string& target,
                    const ScoredPair& pair) {
    nlohmann::ordered_json json = {{"line", line}, {"source", source}, {"target", target}};
    if (pair.problem.empty()) {
        json["log_probability"] = pair.log_probability;
        json["nll"] = pair.nll();
        if (has_empty_target(pair)) {
            json["empty_target"] = true;
        }
        json["tokens"] = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < pair.target_ids.size(); ++i) {
            json["tokens"].push_back(
                {{"token", tokenizer.piece(pair.target_ids[i])}, {"log_probability", pair.log_probabilities[i]}});
        }
    } else {
        json["problem"] = pair.problem;
    }
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string text_of(const ScoredPair& pair) {
    return pair.problem.empty() ? fmt::format("{:.4f}\t{:.4f}\n", pair.log_probability, pair.nll()) : "\n";
}

void print_stats(const Totals& totals) {
    const double nll = -totals.log_probability / static_cast<double>(totals.tokens);
    tell(fmt::format("{}, {}: log P {:.4f}, {:.4f} nats a token, perplexity {:.4f}",
                     counted(totals.pairs - totals.problems - totals.empty, "pair"),
                     counted(totals.tokens, "target token"), totals.log_probability, nll, std::exp(nll)));
}

void score(const ScoreOptions& options) {
    PairReader input = open_pairs(options);
    InputFiles inputs(options.open_options.settings);
    inputs.add({options.tsv, options.source, options.target});
    Pairs pairs = next_pairs(input);
    if (pairs.sources.empty()) {
        throw Error(input.name() + " holds no sentence to score");
    }
    const std::vector<std::string> models = find_models(options.models, options.open_options.settings);
    inputs.add(models);
    inputs.refuse("-");
    ModelDevice device(options.device, options.precision, models, options.open_options,
                       [](const std::string& message) { tell("headscope: " + message); });
    device.load();
    Totals totals;
    for (; !pairs.sources.empty(); pairs = next_pairs(input)) {
        std::vector<ScoredPair> scored;
        device.run([&](Backend& backend, const Translator& translator) {
            Context ctx{.backend = backend, .compute = device.arithmetic().compute};
            scored = score_pairs(ctx, translator, pairs.sources, pairs.targets, options.batch_tokens);
        });
        std::string text;
        for (std::size_t i = 0; i < scored.size(); ++i) {
            totals.add(scored[i]);
            if (!scored[i].problem.empty()) {
                tell(fmt::format("headscope: line {}: {}", totals.pairs, scored[i].problem));
            }
            text += options.json ? json_of(*device.translator().model().target_tokenizer, totals.pairs,
                                           pairs.sources[i], pairs.targets[i], scored[i])
                                 : text_of(scored[i]);
        }
        write_output(text);
    }
    if (totals.unknown > 0) {
        tell("headscope: " +
             unknown_note(totals.unknown, totals.pairs, "targets", "scored with the probability of the unknown piece"));
    }
    if (totals.empty > 0) {
        tell(fmt::format(
            "headscope: {} of {} targets are empty: scored as the end of the sentence alone, and left out of --stats",
            totals.empty, totals.pairs));
    }
    if (options.stats && totals.tokens > 0) {
        print_stats(totals);
    }
    if (totals.problems > 0) {
        throw Error(fmt::format("{} of {} pairs were not scored; their lines of the output are empty", totals.problems,
                                totals.pairs));
    }
}

}  // namespace

void add_score_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ScoreOptions>();
    options->open_options = open_options;
    CLI::App* command = app.add_subcommand("score", "How likely a model finds given translations");
    command->footer(
        "Writes \"log P TAB nll\" for each pair: the natural logarithm of the target's probability, its end included,\n"
        "and what that loses on each of its pieces. Nothing is searched, and no length penalty is applied.\n"
        "A pair that cannot be scored (too long for the model, not UTF-8, without a source) is named, gives an empty\n"
        "line, and makes the exit code 1. An empty target is scored as the end of the sentence alone; it is counted\n"
        "on standard error, left out of --stats, and has \"empty_target\": true in JSON.\n\n"
        "Examples:\n"
        "  headscope score --source test.en --target test.de\n"
        "  headscope score --tsv test.tsv --stats\n"
        "  headscope score --tsv test.tsv --json --model runs/my-model");
    CLI::Option* tsv = command->add_option(
        "--tsv", options->tsv,
        "\"source TAB target\" lines; plain or packed by gzip, zstd, xz or bzip2, as all files here");
    command->add_option("--source", options->source, "Sentences, one a line")->excludes(tsv);
    command->add_option("--target", options->target, "Their translations, one a line")->excludes(tsv);
    add_models_option(*command, options->models, "score together by the mean of their probabilities");
    command->add_option("--device", options->device, "cpu, cuda, vulkan, vulkan:1, ...; see headscope devices")
        ->check(something);
    command->add_option("--batch-tokens", options->batch_tokens, "Pieces of the longer side scored at a time")
        ->check(whole_number(1, 10'000'000))
        ->capture_default_str();
    add_precision_option(
        *command, options->precision,
        "f32 (default), tf32, bf16 or f16: what numbers are stored and multiplied in, where the device "
        "has it; i8: the weights alone");
    command->add_flag("--json", options->json,
                      "Write an object for each pair: source, target, log_probability, nll, tokens with theirs, and "
                      "empty_target or problem where there is one");
    command->add_flag("--stats", options->stats, "Say on standard error what all pairs together have");
    command->callback([options] { score(*options); });
}

}  // namespace headscope

// headscope experiment attention-scores: the claims of section 3.2.1, measured.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/experiment/experiment_command.h"
#include "cli/stop_signal.h"
#include "experiment/attention_scores.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr const char* kScoresFooter =
    "For scaled and unscaled products and additive scores: the deviation of the scores and the gradient of the\n"
    "softmax, the mean over queries of the sum of w (1 - w), for random queries and keys; time and memory of 8 heads\n"
    "of attention, forward and backward; and the steps until a small language model recalls the first of 64 symbols,\n"
    "or the accuracy where it never did. table.json, table.md, gradient.svg and time.svg in the output folder have\n"
    "the same. docs/experiments.md says what they show.\n\n"
    "Example:\n"
    "  headscope experiment attention-scores --output out/scores --d-k 4,16 --length 64 --repeat 1 --steps 20";

struct ScoresFlags {
    CommonOptions common;
    std::string output;
    std::vector<std::int64_t> d_k = {4, 16, 64, 256};
    std::int64_t length = 256;
    int repeat = 5;
    LongRangeSettings recall;
};

void run_scores(const ScoresFlags& flags) {
    constexpr std::int64_t kDistance = 64;
    listen_for_stop();
    const std::unique_ptr<Backend> backend = open_device(flags.common.device(), flags.common.open);
    std::vector<ScoreMeasures> all;
    for (const ScoreKind& kind : score_kinds()) {
        for (const std::int64_t d_k : flags.d_k) {
            ScoreMeasures one = measure_scores(*backend, kind, d_k, flags.length, flags.repeat);
            const LayerKind model = recalling_model(kind, d_k);
            const std::string impossible = why_impossible(flags.recall, LongRangeTask::Recall, model, kDistance);
            if (impossible.empty()) {
                one.learnt =
                    learn_long_range(*backend, flags.recall, LongRangeTask::Recall, model, kDistance, stop_requested);
            } else {
                log_line(fmt::format("{}, d_k = {}: no model: {}", kind.name, d_k, impossible));
            }
            if (stop_requested()) {
                throw Error("stopped by a signal; nothing was written");
            }
            log_line(fmt::format("{}, d_k = {}: scores deviate by {:.2f}", kind.name, d_k, one.deviation));
            all.push_back(std::move(one));
        }
    }
    write_scores(flags.output, fmt::format("{} ({})", backend->device().id, backend->device().name), all);
    write_output(table_of(all).plain());
}

}  // namespace

void add_attention_scores_command(CLI::App& app, const OpenOptions& open_options) {
    auto flags = std::make_shared<ScoresFlags>();
    flags->common.open = open_options;
    flags->recall.steps = 400;
    CLI::App* command =
        app.add_subcommand("attention-scores", "Scaled, unscaled and additive scores of attention: section 3.2.1");
    command->footer(kScoresFooter);
    command->option_defaults()->group("Data");
    command->add_option("--output", flags->output, "Folder of the experiment")->type_name("FOLDER")->required();
    command->option_defaults()->group("Models");
    command->add_option("--d-k", flags->d_k, "Columns of queries and keys (default: 4,16,64,256)")
        ->delimiter(',')
        ->check(whole_number(1, 4096))
        ->type_name("N,..");
    command->option_defaults()->group("Measurement");
    command->add_option("--length", flags->length, "Positions of the text whose attention is timed")
        ->check(whole_number(1, 65'536))
        ->capture_default_str();
    command->add_option("--repeat", flags->repeat, "Runs of each; the median is reported")
        ->check(whole_number(1, 1000))
        ->capture_default_str();
    command->add_option("--steps", flags->recall.steps, "At most, for each model")
        ->check(whole_number(1, 1'000'000))
        ->capture_default_str();
    flags->common.add_device(*command);
    command->callback([flags] { run_scores(*flags); });
}

}  // namespace headscope

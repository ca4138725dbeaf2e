#include "cli/train/train_run.h"

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/stop_signal.h"
#include "cli/train/course_json.h"
#include "cli/train/train_request.h"
#include "cli/train/train_terminal.h"
#include "io/scratch_folder.h"
#include "options/version.h"
#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/usage_error.h"
#include "train/dry_run.h"
#include "train/encode_responses.h"
#include "train/first_model.h"
#include "train/log_reader.h"
#include "train/overfit.h"
#include "train/run_config.h"
#include "train/run_folder.h"
#include "train/training_job.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

// A training that leaves no files behind.
struct Attempt {
    // `needs_data`: whether it is an error if there is none.
    Attempt(const TrainOptions& options, const Log& say, bool needs_data) : job(request_of(options, say), say) {
        backend = open_device(options.common.device(), options.common.open);
        job.use(*backend);
        if (!job.has_config()) {
            job.choose_config(folder.path());
        }
        job.inputs().files.refuse("-");
        if (!options.from.empty()) {
            try_first_model(*backend, job.config(), options.from);
        }
        if (needs_data || !options.given.data.empty() || !job.lacks_data()) {
            job.prepare_data((fs::path(folder.path()) / "tokenizer").string());
            data = &job.data();
        }
    }

    ScratchFolder folder;
    std::unique_ptr<Backend> backend;
    TrainingJob job;
    const TrainingData* data = nullptr;
};

std::string json_of(const DescribedTraining& described, const std::string& device) {
    nlohmann::ordered_json json{{"device", device},
                                {"parameters", described.parameters},
                                {"seconds_per_step", described.seconds_per_step},
                                {"flops_per_step", described.flops_per_step},
                                {"bytes", nullptr}};
    if (described.bytes) {
        json["bytes"] = *described.bytes;
    }
    if (std::isfinite(described.steps)) {
        json.update({{"steps", described.steps},
                     {"limit", described.limit},
                     {"seconds", described.steps * described.seconds_per_step}});
    }
    if (std::isfinite(described.steps_per_epoch)) {
        json["steps_per_epoch"] = described.steps_per_epoch;
    }
    if (described.exchange_seconds) {
        json["exchange_seconds"] = *described.exchange_seconds;
        json["speed_up"] = described.speed_up;
    }
    return json_document(json);
}

// --dry-run, which measures on the first of several devices.
void describe(TrainOptions options, Terminal& terminal) {
    if (const CommonOptions& common = options.common;
        options.ranks.count || names_several(asked_device(common.device(), common.open.settings))) {
        const std::vector<std::string> devices = devices_of_ranks(options.ranks.count, common);
        options.ranks.count = static_cast<int>(devices.size());
        options.common.devices = {devices.front()};
    }
    if (!options.network.empty() && options.ranks.count.value_or(1) == 1) {
        throw UsageError("--network is between ranks, and there is one: say --ranks N, or name several devices");
    }
    Attempt attempt(options, terminal.say(), false);
    if (attempt.data == nullptr) {
        terminal.say()(
            fmt::format("none of the files of {} is there: measuring with random pieces; --data names the folder",
                        attempt.job.config().file));
    }
    std::optional<RankedSteps> ranked;
    if (const int count = options.ranks.count.value_or(1); count > 1) {
        ranked = {.ranks = count};
        if (!options.network.empty()) {
            ranked->network = parse_network(options.network);
        }
    }
    const DescribedTraining described =
        describe_training(*attempt.backend, attempt.job.config(), attempt.data, options.output, ranked);
    write_output(options.common.json ? json_of(described, attempt.backend->device().id) : described.text);
}

// --show-labels
void print_labels(const TrainOptions& options, Terminal& terminal) {
    if (options.common.json) {
        throw UsageError("--show-labels prints text: leave --json out");
    }
    Attempt attempt(options, terminal.say(), true);
    if (traits(attempt.job.config().task).has_source) {
        throw UsageError(fmt::format("--show-labels is for language models, and the \"task\" is \"{}\"",
                                     name_of(attempt.job.config().task)));
    }
    write_output(show_labels(*attempt.data, attempt.job.config().task, options.show_labels));
}

// --overfit-one-batch
void overfit(const TrainOptions& options, Terminal& terminal) {
    constexpr std::int64_t kSteps = 300;
    constexpr double kEnough = 0.1;  // nll per token
    require_unused(options.output);
    Attempt attempt(options, terminal.say(), true);
    const double nll = overfit_one_batch(*attempt.backend, attempt.job.config(), *attempt.data, options.from,
                                         options.given.steps.value_or(kSteps), hooks_for(*attempt.backend, terminal));
    if (!(nll < kEnough)) {
        throw Error(fmt::format(
            "cannot overfit one batch: nll {:.4f} per token, expected less than {}: something in the set-up is "
            "wrong, or --steps is too low",
            nll, kEnough));
    }
    terminal.say()("one batch was overfitted: the set-up can learn");
    if (options.common.json) {
        write_output(json_document({{"nll", nll}}));
    }
}

// What the run's folder holds in the end.
std::string json_of(const TrainingResult& result, const std::string& folder) {
    nlohmann::ordered_json json{
        {"output", folder}, {"step", result.step}, {"seconds", result.minutes * 60.0}, {"ended_by", result.ended_by}};
    json.update(course_json(read_training_log((fs::path(folder) / "log.jsonl").string())));
    json["files"] = written_files(folder);
    return json_document(json);
}

void train(const TrainOptions& options, Terminal& terminal, Communicator& ranks) {
    const Log say = ranks.leads() ? terminal.say() : [](const std::string&) {};
    if (ranks.leads()) {
        require_output(options.output, options.resume, options.finish ? Purpose::Finish : Purpose::Train);
    }
    TrainingRequest request = request_of(options, say);
    request.ranks = &ranks;
    request.program = version_line("headscope");
    TrainingJob job(std::move(request), say);
    std::unique_ptr<Backend> backend;
    const auto open = [&]() -> Backend& {
        backend = open_device(options.common.device(), options.common.open);
        return *backend;
    };
    TrainingResult result;
    try {
        result = job.run(open, [&](Backend& opened) { return hooks_for(opened, terminal); });
    } catch (const DeviceLost& lost) {
        throw Error(lost.what() + std::string(holds_checkpoints(options.output)
                                                  ? "; --resume continues from the last checkpoint"
                                                  : "; there is no checkpoint to resume from yet"));
    }
    if (!ranks.leads()) {
        return;
    }
    if (result.end == RunEnd::Stopped) {
        throw Error(
            result.step == 0
                ? "stopped by a signal before the first step: there is no checkpoint yet; --resume starts again"
                : fmt::format("stopped after step {} by a signal; the step is checkpointed, and --resume continues",
                              result.step));
    }
    if (!options.finish) {
        say(fmt::format("the training ended after step {} by {}", result.step, result.ended_by));
        say(fmt::format(
            "use it in other commands: --model {0}; look at it: headscope view {0}; its curves: headscope plot {0}",
            options.output));
    }
    if (options.common.json) {
        write_output(json_of(result, options.output));
    }
}

// Of a training that begins again after a failure: from its checkpoint, if it got so far.
void go_on(TrainOptions& options) {
    if (holds_checkpoints(options.output)) {
        options.resume = true;
        options.from.clear();
        options.given.config.clear();
        options.given.texts = {};
    }
}

}  // namespace

void run_training(const TrainOptions& options) {
    listen_for_stop();
    Terminal terminal;
    const Settings& settings = options.common.open.settings;
    if (options.dry_run) {
        require_alone("--dry-run", settings);
        describe(options, terminal);
    } else if (options.show_labels > 0) {
        require_alone("--show-labels", settings);
        print_labels(options, terminal);
    } else if (options.overfit) {
        require_alone("--overfit-one-batch", settings);
        overfit(options, terminal);
    } else {
        run_on_ranks(options.ranks, options.common, [&](const CommonOptions& common, Communicator& ranks, int attempt) {
            TrainOptions of_rank = options;
            of_rank.common = common;
            if (attempt > 0) {
                go_on(of_rank);
            }
            train(of_rank, terminal, ranks);
        });
    }
}

}  // namespace headscope

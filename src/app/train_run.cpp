#include "app/train_run.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/stop_signal.h"
#include "backend/instrumented.h"
#include "registry/registry.h"
#include "support/check.h"
#include "train/batch_size.h"
#include "train/default_config.h"
#include "train/dry_run.h"
#include "train/report_table.h"
#include "train/run_config.h"
#include "train/run_folder.h"
#include "train/text_parts.h"
#include "train/trainer.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

// Progress is news for people: it goes to standard error, and a closed terminal must not end a training of hours.
class Terminal {
public:
    Terminal()
        : table_([](std::string_view text) {
              std::fwrite(text.data(), 1, text.size(), stderr);
              std::fflush(stderr);
          }),
          terminal_(::isatty(STDERR_FILENO) != 0) {}
    ~Terminal() { table_.finish(); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    Say say() {
        return [this](const std::string& line) { terminal_ ? table_.say(line) : tell(line); };
    }
    // Empty where a report is a line as any other.
    std::function<void(const Report&)> report() {
        return terminal_ ? [this](const Report& report) { table_.report(report); }
                         : std::function<void(const Report&)>();
    }

private:
    ReportTable table_;
    bool terminal_;
};

// For what has to lie in files as long as it is needed, and no longer.
class PassingFolder {
public:
    PassingFolder() {
        std::string pattern = (fs::temp_directory_path() / "headscope-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw Error(
                fmt::format("cannot make a temporary folder {}: {}", pattern, std::generic_category().message(errno)));
        }
        path_ = pattern;
    }
    ~PassingFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    PassingFolder(const PassingFolder&) = delete;
    PassingFolder& operator=(const PassingFolder&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

TrainerHooks hooks_for(Backend& backend, Terminal& terminal) {
    TrainerHooks hooks{.say = terminal.say(), .report = terminal.report(), .stop_requested = stop_requested};
    if (auto* instrumented = dynamic_cast<Instrumented*>(&backend)) {
        hooks.label = [instrumented](const std::string& label) { instrumented->set_label(label); };
    }
    return hooks;
}

void overfit(Trainer& trainer, std::int64_t steps, const Say& say) {
    constexpr double kEnough = 0.1;  // nll per token
    const std::optional<double> nll = trainer.overfit_one_batch(steps);
    if (!nll) {
        throw Error(fmt::format("stopped after step {} of an attempt, which saves nothing", trainer.step()));
    }
    if (!(*nll < kEnough)) {
        throw Error(
            fmt::format("one batch was not learnt by heart: nll {:.4f} per token, expected less than {}: something "
                        "in the set-up is wrong, or --steps is too low",
                        *nll, kEnough));
    }
    say("one batch was learnt by heart: the set-up can learn");
}

// A configuration of two texts, with what is held out of them in `folder`.
RunConfig config_of_texts(const TrainOptions& options, const Backend& device, const std::string& folder,
                          const Say& say) {
    constexpr std::uint64_t kSeed = 1;
    const TextParts text = part_texts(options.source, options.target, (fs::path(folder) / "data").string(), kSeed);
    say(
        fmt::format("{} pairs to train on, {} held out to validate with, {} left out for sharing a side with those, {} "
                    "for an empty side",
                    text.train, text.valid, text.shared, text.empty));
    const nlohmann::json json = default_config(text, device);
    const std::string file = RunConfig::kept_in(options.output);
    say(fmt::format("chosen by the amount of text: {}; all of it goes into {}, to be edited and given back",
                    describe(json), file));
    return {json, file};
}

void apply(const TrainOptions& options, RunConfig& config) {
    if (!options.overfit && options.steps) {  // else its steps are no limit of the run
        const std::int64_t cooldown = config.count("cooldown_steps");
        if (*options.steps < cooldown) {
            throw Error(
                fmt::format("--steps {} is less than \"training.cooldown_steps\" ({}) of {}: ask for at least as "
                            "many, or lower that",
                            *options.steps, cooldown, config.file()));
        }
        config.set("steps", *options.steps);
    }
    if (options.epochs) {
        config.set("epochs", *options.epochs);
    }
    if (options.tokens) {
        config.set("tokens", *options.tokens);
    }
    if (options.minutes) {
        config.set("minutes", *options.minutes);
    }
    if (options.validate_bleu) {
        config.set("validate_bleu", *options.validate_bleu);
    }
    if (options.watch_gradients) {
        config.set("watch_gradients", true);
    }
    if (options.tensorboard) {
        config.set("tensorboard", true);
    }
    if (options.precision) {
        config.set("precision", name_of(*options.precision));
        config.unset("compute");  // which says less
    }
    if (options.batch) {
        const bool find = *options.batch == "auto";
        for (const char* side : {"source_tokens", "target_tokens"}) {
            find ? config.set(side, "auto") : config.set(side, std::stoll(*options.batch));
        }
    }
}

std::int64_t found_batch(Backend& backend, const TrainConfig& config, const TrainingData& data, const Say& say) {
    const ModelConfig model = config.model_config(data.source_tokenizer->size(), data.target_tokenizer->size());
    StepRehearsal rehearsal(backend, config, model, arithmetic_of(config, backend));
    const FoundBatch found = find_batch(rehearsal, config, memory_limit(backend));
    say(found.how);
    return found.tokens;
}

void set_batch(RunConfig& config, std::int64_t tokens) {
    config.set("source_tokens", tokens);
    config.set("target_tokens", tokens);
}

RunConfig given_config(const TrainOptions& options) {
    return options.config.empty() ? RunConfig::of_run(options.output) : RunConfig::read(options.config, options.data);
}

// Nothing of it stays, neither here nor in --output.
void dry_run(const TrainOptions& options, const Say& say) {
    const PassingFolder folder;
    const std::unique_ptr<Backend> backend = open_device(options.device);
    RunConfig given =
        options.source.empty() ? given_config(options) : config_of_texts(options, *backend, folder.path(), say);
    apply(options, given);
    TrainConfig config = given.parsed();
    static_cast<void>(arithmetic_of(config, *backend));
    const TrainingData data =
        prepare_training_data(config, folder.path(), {.reuse = false, .from_model = options.from}, say);
    if (config.training.find_batch) {
        set_batch(given, found_batch(*backend, config, data, say));
        config = given.parsed();
    }
    write_output(describe_training(*backend, config, data, options.output));
}

class Run {
public:
    Run(const TrainOptions& options, Terminal& terminal)
        : options_(options), terminal_(terminal), say_(terminal.say()) {}

    void begin() {
        // Complaints about what was given come before anything is made.
        if (options_.source.empty()) {
            given_ = given_config(options_);
            apply(options_, *given_);
            static_cast<void>(given_->parsed());
        }
        backend_ = open_device(options_.device);
        if (given_) {
            static_cast<void>(arithmetic_of(given_->parsed(), *backend_));
        }
        folder_.emplace(options_.output, say_);
        if (!options_.resume && !options_.finish) {
            folder_->require_unused();
        }
        begun_ = folder_->holds_checkpoints();
        if (options_.finish && !begun_) {
            throw Error(fmt::format("'{}' holds no checkpoint to make a model of: train first", options_.output));
        }
        if (options_.resume && !begun_) {
            say_(fmt::format("'{}' holds no checkpoint yet: starting from the beginning", options_.output));
        }
        if (!given_) {
            given_ = config_of_texts(options_, *backend_, options_.output, say_);
            apply(options_, *given_);
            given_->keep(options_.output);
        }
        train();
    }

private:
    void train() {
        const fs::path output(options_.output);
        // Without a checkpoint nothing says that a tokenizer left there is of this configuration.
        TrainingData data = prepare_training_data(given_->parsed(), (output / "tokenizer").string(),
                                                  {.reuse = begun_, .from_model = options_.from}, say_);
        if (given_->parsed().training.find_batch) {
            set_batch(*given_,
                      begun_ ? folder_->recorded_batch() : found_batch(*backend_, given_->parsed(), data, say_));
        }
        const TrainConfig config = given_->parsed();
        Trainer trainer(*backend_, config, std::move(data), options_.output, hooks_for(*backend_, terminal_));
        if (!begun_ && !options_.from.empty()) {
            trainer.begin_from(options_.from);
        }
        if (options_.overfit) {
            constexpr std::int64_t kSteps = 300;
            overfit(trainer, options_.steps.value_or(kSteps), say_);
            return;
        }
        if (begun_) {
            trainer.resume(options_.finish ? Purpose::Finish : Purpose::Train);
        }
        if (!options_.finish) {
            given_->keep(options_.output);
            try {
                to_the_end(trainer);
            } catch (const DeviceLost& lost) {
                throw Error(lost.what() + std::string(folder_->holds_checkpoints()
                                                          ? "; --resume goes on from the last checkpoint"
                                                          : "; there is no checkpoint to resume from yet"));
            }
        }
        trainer.write_model((output / "model").string());
    }

    static void to_the_end(Trainer& trainer) {
        if (trainer.run() == RunEnd::Stopped) {
            throw Error(
                trainer.step() == 0
                    ? "stopped before the first step: there is nothing to resume yet"
                    : fmt::format("stopped after step {}, which is checkpointed; --resume continues", trainer.step()));
        }
    }

    const TrainOptions& options_;
    Terminal& terminal_;
    Say say_;
    std::optional<RunConfig> given_;
    std::unique_ptr<Backend> backend_;
    std::optional<RunFolder> folder_;
    bool begun_ = false;
};

}  // namespace

void run_training(const TrainOptions& options) {
    listen_for_stop();
    Terminal terminal;
    if (options.dry_run) {
        dry_run(options, terminal.say());
        return;
    }
    Run(options, terminal).begin();
}

}  // namespace headscope

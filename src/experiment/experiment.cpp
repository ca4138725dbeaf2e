#include "experiment/experiment.h"

#include <cstddef>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "infer/fresh_device.h"
#include "io/atomic_file.h"
#include "io/strict_json.h"
#include "support/check.h"
#include "train/config_changes.h"
#include "train/ranked_start.h"
#include "train/run_config.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExperimentFile = "experiment.json";
constexpr const char* kTokenizerFolder = "tokenizer";

void require_comparable(const TrainConfig& config) {
    if (!traits(config.task).reads_pairs) {
        throw Error(fmt::format("{}: an experiment compares translations, and \"task\" is \"{}\": leave it out",
                                config.file, name_of(config.task)));
    }
    if (config.data.valid.empty()) {
        throw Error(fmt::format("{}: an experiment compares models on development data: name some in \"data.valid\"",
                                config.file));
    }
    if (config.training.find_batch) {
        throw Error(
            fmt::format("{}: \"training.source_tokens\" is \"auto\", which gives every model and device steps of "
                        "another size: an experiment needs a number",
                        config.file));
    }
}

}  // namespace

Experiment::Experiment(std::string kind, nlohmann::json base, ExperimentOptions options)
    : options_(std::move(options)) {
    if (!ranks().leads()) {
        tell_start(ranks(), {}, options_.folder);
        ranks().meet();
        return;
    }
    const std::string file = path(kExperimentFile);
    const TrainConfig config = RunConfig(base, file).parsed();
    require_comparable(config);
    const bool begun = fs::exists(file);
    nlohmann::json identity = {{"experiment", std::move(kind)}, {"config", std::move(base)}};
    if (begun) {
        check_unchanged(identity);
    }
    require_unused(options_.folder);
    held_.emplace(options_.folder, options_.say);
    if (ranks().size() > 1) {
        tell_start(ranks(), {}, options_.folder);  // they see it
    }
    const TrainingData data = prepare_training_data(config, path(kTokenizerFolder), {.reuse = begun}, options_.say);
    identity["data"] = {{"train", fmt::format("{:016x}", data.fingerprint())},
                        {"development", fmt::format("{:016x}", data.valid->fingerprint())}};
    if (begun) {
        check_unchanged(identity);
    }
    atomic_write_file(file, identity.dump(2) + "\n");
    held_->keep();
    ranks().meet();
}

std::string Experiment::path(const std::string& name) const {
    return (fs::path(options_.folder) / name).string();
}

void Experiment::check_unchanged(const nlohmann::json& identity) const {
    nlohmann::json then = read_json_file(path(kExperimentFile));
    for (const char* key : {"experiment", "config", "data"}) {
        if (!then.contains(key)) {
            throw Error(fmt::format("'{}' lacks \"{}\": it was not written by an experiment; choose another --output",
                                    path(kExperimentFile), key));
        }
        if (!identity.contains(key)) {
            then.erase(key);  // not known yet
        }
    }
    const std::vector<std::string> changed = differences(then, identity);
    if (!changed.empty()) {
        throw Error(
            fmt::format("'{}' holds another experiment: {}; give the same options again, or choose another "
                        "--output",
                        options_.folder, fmt::join(changed, "; ")));
    }
}

std::optional<TrialResult> Experiment::result_of(const Trial& trial) const {
    return read_result(path(trial.name), trial);
}

// One thread for each device takes the next trial.
class Experiment::Workers {
public:
    Workers(const Experiment& experiment, const std::vector<Trial>& trials,
            const std::function<void(std::size_t, const TrialOutcome&)>& after_each)
        : experiment_(experiment),
          trials_(trials),
          after_each_(after_each),
          outcomes_(trials.size()),
          next_(static_cast<std::size_t>(experiment.ranks().rank())) {}

    std::vector<TrialOutcome> run() {
        {
            std::vector<std::jthread> threads;
            for (const std::string& device : experiment_.options_.devices) {
                threads.emplace_back([this, &device] { work(device); });
            }
        }
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        return std::move(outcomes_);
    }

private:
    std::optional<std::size_t> take() {
        const std::scoped_lock lock(mutex_);
        if (next_ >= trials_.size() || failure_ || experiment_.options_.stop_requested()) {
            return std::nullopt;
        }
        return std::exchange(next_, next_ + static_cast<std::size_t>(experiment_.ranks().size()));
    }

    void say(const std::string& line) {
        const std::scoped_lock lock(mutex_);
        experiment_.options_.say(line);
    }

    void work(const std::string& device) {
        try {
            std::unique_ptr<Backend> backend;
            SecondChance chance;
            for (std::optional<std::size_t> trial = take(); trial; trial = take()) {
                const TrialOutcome outcome = attempt(device, backend, chance, trials_[*trial]);
                const std::scoped_lock one_call(calls_);
                if (experiment_.ranks().leads()) {
                    after_each_(*trial, outcome);
                }
                outcomes_[*trial] = outcome;
            }
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            failure_ = failure_ ? failure_ : std::current_exception();
        }
    }

    // Opens `backend` if it is null, and makes it null if it is lost.
    TrialOutcome attempt(const std::string& device, std::unique_ptr<Backend>& backend, SecondChance& chance,
                         const Trial& trial) {
        const auto open = [&] {
            backend.reset();
            backend = experiment_.options_.open(device);
        };
        if (!backend) {
            open();
        }
        TrialOutcome outcome;
        try {
            with_fresh_device(
                chance, [&] { outcome.result = finish(*backend, trial); }, open,
                [&](const std::string& what) { say(what + "; the device was opened again"); });
        } catch (const DeviceLost& lost) {
            backend.reset();
            outcome.problem = lost.what();
        } catch (const std::exception& error) {
            outcome.problem = error.what();
        }
        return outcome;
    }

    std::optional<TrialResult> finish(Backend& backend, const Trial& trial) {
        if (std::optional<TrialResult> known = experiment_.result_of(trial)) {
            remove_checkpoints(experiment_.path(trial.name));  // left if it was killed just after its end
            return known;
        }
        RunHooks hooks{.say = [this, &trial](const std::string& line) { say(fmt::format("{}: {}", trial.name, line)); },
                       .stop_requested = experiment_.options_.stop_requested};
        return run_trial(backend, trial, experiment_.path(trial.name), experiment_.path(kTokenizerFolder), hooks);
    }

    const Experiment& experiment_;
    const std::vector<Trial>& trials_;
    const std::function<void(std::size_t, const TrialOutcome&)>& after_each_;
    std::mutex calls_;  // of after_each_, which may take long
    std::vector<TrialOutcome> outcomes_;
    std::mutex mutex_;  // of everything below, and of lines for the caller
    std::size_t next_;
    std::exception_ptr failure_;  // of the experiment itself, such as a device that cannot be opened
};

std::vector<TrialOutcome> Experiment::run(
    const std::vector<Trial>& trials,
    const std::function<void(std::size_t trial, const TrialOutcome&)>& after_each) const {
    std::vector<TrialOutcome> outcomes = Workers(*this, trials, after_each).run();
    if (ranks().size() > 1) {
        gather(trials, outcomes, after_each);
    }
    return outcomes;
}

// Completes rank 0's outcomes by those of the others, whose results are in the folder.
void Experiment::gather(const std::vector<Trial>& trials, std::vector<TrialOutcome>& outcomes,
                        const std::function<void(std::size_t trial, const TrialOutcome&)>& after_each) const {
    nlohmann::json mine = nlohmann::json::object();
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].result || !outcomes[i].problem.empty()) {
            mine[std::to_string(i)] = outcomes[i].problem;
        }
    }
    const std::vector<std::string> all = ranks().gather(mine.dump());
    for (std::size_t rank = 1; rank < all.size() && ranks().leads(); ++rank) {
        const nlohmann::json theirs = nlohmann::json::parse(all[rank]);
        for (const auto& [number, problem] : theirs.items()) {
            const std::size_t trial = std::stoul(number);
            outcomes.at(trial).problem = problem;
            if (outcomes[trial].problem.empty()) {
                outcomes[trial].result = result_of(trials[trial]);
            }
            after_each(trial, outcomes[trial]);
        }
    }
}

}  // namespace headscope

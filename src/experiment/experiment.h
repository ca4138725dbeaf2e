// Trials that share data and tokenizers, in one folder, on one or several devices. Resumable: a trial with a result is
// not repeated, and one without continues from its newest checkpoint.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.h"
#include "experiment/trial.h"
#include "parallel/communicator.h"
#include "train/run_folder.h"

namespace headscope {

struct TrialOutcome {
    std::optional<TrialResult> result;
    std::string problem;  // why it failed; "" unless it did
};

struct ExperimentOptions {
    std::string folder;
    std::vector<std::string> devices = {""};  // one trial at a time on each
    std::function<std::unique_ptr<Backend>(const std::string& device)> open;
    Log say = [](const std::string&) {};
    std::function<bool()> stop_requested = [] { return false; };
    // That share the trials: rank r of N has each N-th, from its r-th on. Rank 0 makes the folder and tells the
    // outcomes.
    Communicator* ranks = &alone();
};

class Experiment {
public:
    // Opens or creates the folder and learns the tokenizers of `base`, a training configuration whose data files are
    // absolute. Error if the folder holds an experiment of another kind, configuration or data, with the differences,
    // for a configuration without development data, of another task than translation, or with steps as large as memory
    // holds.
    Experiment(std::string kind, nlohmann::json base, ExperimentOptions options);

    // What the folder knows of a trial without training it.
    std::optional<TrialResult> result_of(const Trial& trial) const;

    // Runs the trials that have no result, in this order. A trial that fails does not end the others, but a device that
    // cannot be opened for the next one does. Calls `after_each` after each one with its index, one call at a time.
    // Returns early if a stop is requested: then some outcomes have neither a result nor a problem. Of several ranks
    // rank 0 calls `after_each` for the trials of others when all are done; the others do not call it.
    std::vector<TrialOutcome> run(const std::vector<Trial>& trials,
                                  const std::function<void(std::size_t trial, const TrialOutcome&)>& after_each) const;

    const std::string& folder() const { return options_.folder; }
    Communicator& ranks() const { return *options_.ranks; }
    // The first of its devices.
    std::unique_ptr<Backend> open() const { return options_.open(options_.devices.front()); }

private:
    class Workers;

    void gather(const std::vector<Trial>& trials, std::vector<TrialOutcome>& outcomes,
                const std::function<void(std::size_t trial, const TrialOutcome&)>& after_each) const;
    void check_unchanged(const nlohmann::json& identity) const;
    std::string path(const std::string& name) const;

    ExperimentOptions options_;
    std::optional<RunFolder> held_;
};

}  // namespace headscope

#include "cli/experiment/experiment_run.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/ranks.h"
#include "cli/stop_signal.h"
#include "experiment/plan.h"
#include "experiment/scale.h"
#include "experiment/text_table.h"
#include "options/option_values.h"
#include "options/precision_option.h"
#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/duration.h"
#include "train/run_config.h"
#include "train/run_totals.h"

namespace headscope {

namespace {

// Prints the trials that have no result in the output folder, with their parameters and estimated times.
void print_plan(const ExperimentFlags& flags, const nlohmann::json& base, const std::vector<Trial>& all) {
    std::vector<Trial> trials;
    std::copy_if(all.begin(), all.end(), std::back_inserter(trials), [&](const Trial& trial) {
        return !read_result((std::filesystem::path(flags.output) / trial.name).string(), trial);
    });
    const std::vector<std::string> devices = asked_devices(flags.common.device(), flags.common.open);
    const std::unique_ptr<Backend> backend = open_device(devices.front(), flags.common.open);
    TextTable table{.head = {"training", "params", "steps", "minutes"}, .rows = {}};
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    std::string problems;
    double minutes = 0.0;
    const std::vector<PlannedTrial> planned = plan_trials(*backend, base, trials);
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const PlannedTrial& one = planned[i];
        if (!one.problem.empty()) {
            problems += fmt::format("{}: {}\n", trials[i].name, one.problem);
            rows.push_back({{"name", trials[i].name}, {"problem", one.problem}});
            continue;
        }
        rows.push_back(
            {{"name", trials[i].name}, {"parameters", one.parameters}, {"steps", one.steps}, {"minutes", one.minutes}});
        minutes += one.minutes;
        table.rows.push_back({trials[i].name, fmt::format("{:.2f} M", static_cast<double>(one.parameters) / 1e6),
                              fmt::format("{:.0f}", one.steps), fmt::format("{:.1f}", one.minutes)});
    }
    if (flags.common.json) {
        write_output(json_document({{"device", backend->device().id},
                                    {"minutes", minutes},
                                    {"trainings", rows},
                                    {"finished", all.size() - trials.size()}}));
        return;
    }
    write_output(table.plain() +
                 fmt::format("{} on one device, {}: about {}, without development data\n",
                             counted(table.rows.size(), "training"), backend->device().id, duration_text(minutes)) +
                 (trials.size() < all.size()
                      ? fmt::format("{} of {} are finished\n", all.size() - trials.size(), all.size())
                      : "") +
                 problems);
}

// Writes the report before and after each training.
void run_reported(const ExperimentFlags& flags, const Experiment& experiment, Trainings& trainings) {
    const std::vector<Trial>& trials = trainings.trials();
    const std::string all = counted(trials.size(), "training");
    std::size_t done = 0;
    std::vector<TrialProblem> problems;
    StudyReport report;
    std::vector<std::string> files;
    const bool leads = experiment.ranks().leads();
    const auto write = [&] {
        if (!leads) {
            return;
        }
        report = trainings.report(experiment, problems);
        files = report.write(experiment.folder());
    };
    write();  // first of all, since it fails if a result in the folder is damaged
    experiment.run(trials, [&](std::size_t trial, const TrialOutcome& outcome) {
        if (!outcome.problem.empty()) {
            problems.push_back({trial, outcome.problem});
            log_line(fmt::format("{} failed: {}", trials[trial].name, outcome.problem));
        } else if (outcome.result) {
            ++done;
            const std::string left =
                left_out_text("development", outcome.result->unscored, outcome.result->untranslated);
            const bool parses = !outcome.result->f1.empty();
            log_line(fmt::format("{}: PPL {:.2f}, {} {:.1f}{}{}; {} of {} done", trials[trial].name,
                                 outcome.result->perplexity, parses ? "F1" : "BLEU",
                                 parses ? outcome.result->f1.front() : outcome.result->bleu.front(),
                                 left.empty() ? "" : "; ", left, done, all));
        }
        write();
    });
    if (!leads) {
        return;
    }
    write();
    print_report(flags, report, files);
    if (done + problems.size() < trials.size()) {
        throw Error(fmt::format("stopped by a signal, {} of {} done; the same command continues", done, all));
    }
    if (!problems.empty()) {
        throw Error(fmt::format("{} of {} failed; the same command tries them again", problems.size(), all));
    }
    if (!report.problem.empty()) {
        throw Error(report.problem);
    }
}

}  // namespace

void print_report(const ExperimentFlags& flags, const StudyReport& report, const std::vector<std::string>& files) {
    if (!flags.common.json) {
        write_output(report.plain());
        return;
    }
    nlohmann::ordered_json json(report.json);
    json["files"] = nlohmann::ordered_json::array();
    for (const std::string& file : files) {
        json["files"].push_back(written_file(file));
    }
    write_output(json_document(json));
}

void ExperimentFlags::add_output(CLI::App& command) {
    command.add_option("-o,--output", output, "Folder of the experiment")->type_name("FOLDER")->required();
    common.add_json(command);
}

void ExperimentFlags::add_data(CLI::App& command) {
    command.option_defaults()->group("Data");
    command.add_option("--data", data, "Folder with train.tsv and valid.tsv: lines of \"source TAB target\"")
        ->type_name("FOLDER")
        ->required();
    add_output(command);
}

void ExperimentFlags::add_training(CLI::App& command, const char* config_name) {
    command.option_defaults()->group("Training");
    CLI::Option* of_scale = add_choice(
        command, "--scale", kScales, [this](std::size_t chosen) { scale = chosen; },
        "Size of the base model and its training");
    command.add_option(config_name, config, "Base configuration (JSON) instead of a scale's")
        ->type_name("FILE")
        ->excludes(of_scale);
    command.add_option("--steps", steps, "Steps of the base model (default: the configuration's)")
        ->check(whole_number(1, 1'000'000'000));
    common.add_device_list(command);
    add_precision_option(command, precision, "Number format of the training")->default_str("the configuration's");
    command.add_flag("--dry-run", dry_run,
                     "Print the trainings, their parameters and estimated times, and write nothing");
}

nlohmann::json ExperimentFlags::base() const {
    nlohmann::json json = config.empty() ? scale_config(scale) : read_config_json(config);
    if (steps) {
        json["training"]["steps"] = *steps;
    }
    if (precision) {
        json["training"]["precision"] = name_of(*precision);
        json["training"].erase("compute");  // an older form of "precision"
    }
    json = RunConfig::with_data(std::move(json), data);
    static_cast<void>(RunConfig(json, config.empty() ? fmt::format("--scale {}", kScales[scale]) : config).parsed());
    return json;
}

void run_trainings(const std::string& kind, const ExperimentFlags& flags, const nlohmann::json& base,
                   Trainings& trainings) {
    const auto say_remarks = [&] {
        for (const std::string& remark : trainings.remarks()) {
            log_line(remark);
        }
    };
    if (flags.dry_run) {
        require_alone("--dry-run", flags.common.open.settings);
        say_remarks();
        print_plan(flags, base, trainings.trials());
        return;
    }
    listen_for_stop();
    constexpr double kWeeks = 1e8;  // seconds: ranks meet after their trainings
    run_on_ranks(
        {.timeout = kWeeks, .starts_ranks = false}, flags.common,
        [&](const CommonOptions& common, Communicator& ranks, int /*attempt*/) {
            if (ranks.leads()) {
                say_remarks();
            }
            run_reported(
                flags,
                {kind,
                 base,
                 {.folder = flags.output,
                  .devices = asked_devices(common.device(), common.open),
                  .open = [open = common.open](const std::string& device) { return open_device(device, open); },
                  .say = [](const std::string& line) { log_line(line); },
                  .stop_requested = stop_requested,
                  .ranks = &ranks}},
                trainings);
        });
}

}  // namespace headscope

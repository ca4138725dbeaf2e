// headscope experiment: repeats the paper's experiments, each a study.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/experiment/experiment_run.h"
#include "cli/stop_signal.h"
#include "options/option_values.h"
#include "registry/registry.h"

namespace headscope {
namespace {

struct Asked {
    const Study& study;
    ExperimentFlags flags = {};
    nlohmann::json values = nlohmann::json::object();
};

CLI::Validator number_check(const StudyOption& option) {
    if (option.value.is_number_float()) {
        return real_number(option.least, option.most);
    }
    return std::isinf(option.most)
               ? seed_number()
               : whole_number(static_cast<std::uint64_t>(option.least), static_cast<std::uint64_t>(option.most));
}

template <class Value>
CLI::Option* add_value(CLI::App& command, const StudyOption& option, nlohmann::json& value) {
    return command.add_option_function<Value>(
        std::string("--") + option.name, [&value](const Value& given) { value = given; }, option.help);
}

void add_option(CLI::App& command, const StudyOption& option, nlohmann::json& value) {
    const bool words = option.value.is_array() && (option.value.empty() || option.value.front().is_string());
    value = option.value;
    command.option_defaults()->group(option.group);
    CLI::Option* added = option.value.is_string()  ? add_value<std::string>(command, option, value)
                         : words                   ? add_value<std::vector<std::string>>(command, option, value)
                         : option.value.is_array() ? add_value<std::vector<std::int64_t>>(command, option, value)
                         : option.value.is_number_integer() ? add_value<std::uint64_t>(command, option, value)
                                                            : add_value<double>(command, option, value);
    added->type_name(option.type);
    if (!words && !option.value.is_string()) {
        added->check(number_check(option));
    }
    if (option.value.is_array()) {
        added->delimiter(',');
    } else if (option.value.is_number_integer()) {
        added->default_str(option.value.dump());
    } else if (option.value.is_string()) {
        added->default_str(option.value);
    }
    if (!option.known.empty()) {
        added->check(CLI::IsMember(option.known));
    }
    if (option.excludes != nullptr) {
        added->excludes(option.excludes);
    }
}

void measure(const Asked& asked) {
    const OpenOptions& open = asked.flags.common.open;
    listen_for_stop();
    const std::unique_ptr<Backend> backend = open_device(asked.flags.common.device(), open);
    const StudyReport report =
        asked.study.measure(asked.values, {.backend = *backend,
                                           .cpu = [&] { return open_device("cpu", open); },
                                           .output = asked.flags.output,
                                           .say = [](const std::string& line) { log_line(line); },
                                           .stop_requested = stop_requested});
    const std::vector<std::string> files = report.write(asked.flags.output);
    print_report(asked.flags, report, files);
}

void train(const Asked& asked) {
    nlohmann::json base = asked.flags.base();
    if (asked.study.prepare != nullptr) {
        asked.study.prepare(base, asked.values);
    }
    const std::unique_ptr<Trainings> trainings =
        begin_trainings(asked.study, {.values = asked.values, .base = base, .data = asked.flags.data});
    run_trainings(asked.study.name, asked.flags, base, *trainings);
}

// A study's own options of the training come after the common ones.
void add_study(CLI::App& app, const Study& study, const OpenOptions& open_options) {
    const auto asked = std::make_shared<Asked>(Asked{study});
    asked->flags.common.open = open_options;
    CLI::App* command = app.add_subcommand(study.name, study.summary);
    command->footer(study.footer);
    const bool trains = study.measure == nullptr;
    const auto add_options = [&](bool of_training) {
        for (const StudyOption& option : study.options) {
            if ((trains && option.group == std::string("Training")) == of_training) {
                add_option(*command, option, asked->values[option.name]);
            }
        }
    };
    if (!trains) {
        command->option_defaults()->group("Data");
        asked->flags.add_output(*command);
        add_options(false);
        asked->flags.common.add_device(*command);
        command->callback([asked] { measure(*asked); });
        return;
    }
    asked->flags.add_data(*command);
    add_options(false);
    asked->flags.add_training(*command);
    add_options(true);
    command->callback([asked] { train(*asked); });
}

}  // namespace

void add_experiment_command(CLI::App& app, const OpenOptions& open_options) {
    CLI::App* command =
        app.add_subcommand("experiment", "Repeat the paper's experiments with your data")->group("Train");
    command->require_subcommand(1);
    command->footer(
        "Example:\n"
        "  headscope experiment table3 --config my.json --data data/digits --output out/table3 --rows base,D --seeds "
        "2");
    for (const Study& study : studies()) {
        add_study(*command, study, open_options);
    }
}

}  // namespace headscope

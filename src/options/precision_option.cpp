#include "options/precision_option.h"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace headscope {

namespace {

std::vector<Precision> first_precisions(std::size_t count) {
    std::vector<Precision> first;
    for (std::size_t i = 0; i < count; ++i) {
        first.push_back(static_cast<Precision>(i));
    }
    return first;
}

template <class To>
CLI::Option* add_option(CLI::App& command, To& precision, const std::string& help,
                        const std::vector<Precision>& known) {
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const Precision each : known) {
        names.emplace_back(name_of(each));
    }
    const auto take = [&precision, known, names](const std::string& name) {
        precision = known[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
    };
    return command.add_option_function<std::string>("--precision", take, help)->check(CLI::IsMember(names));
}

}  // namespace

CLI::Option* add_precision_option(CLI::App& command, Precision& precision, const std::string& help,
                                  const std::vector<Precision>& known) {
    return add_option(command, precision, help, known);
}

CLI::Option* add_precision_option(CLI::App& command, std::optional<Precision>& precision, const std::string& help) {
    return add_option(command, precision, help, training_precisions());
}

std::vector<Precision> every_precision() {
    return first_precisions(kPrecisionNames.size());
}

std::vector<Precision> training_precisions() {
    return first_precisions(kTrainingPrecisions);
}

Arithmetic chosen_arithmetic(const Backend& backend, Precision precision) {
    return inference_arithmetic_for(backend, precision, std::string("--precision ") + name_of(precision));
}

Arithmetic chosen_training_arithmetic(const Backend& backend, Precision precision) {
    return arithmetic_for(backend, precision, std::string("--precision ") + name_of(precision));
}

}  // namespace headscope

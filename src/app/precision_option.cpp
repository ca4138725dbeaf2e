#include "app/precision_option.h"

#include <map>
#include <vector>

#include <CLI/CLI.hpp>

namespace headscope {

namespace {

template <class To>
CLI::Option* add_option(CLI::App& command, To& precision, const std::string& help) {
    std::map<std::string, Precision> names;
    for (std::size_t i = 0; i < kPrecisionNames.size(); ++i) {
        names.emplace(kPrecisionNames[i], static_cast<Precision>(i));
    }
    return command
        .add_option_function<std::string>(
            "--precision", [&precision, names](const std::string& name) { precision = names.at(name); }, help)
        ->check(CLI::IsMember(std::vector<std::string>(kPrecisionNames.begin(), kPrecisionNames.end())));
}

}  // namespace

CLI::Option* add_precision_option(CLI::App& command, Precision& precision, const std::string& help) {
    return add_option(command, precision, help);
}

CLI::Option* add_precision_option(CLI::App& command, std::optional<Precision>& precision, const std::string& help) {
    return add_option(command, precision, help);
}

Arithmetic chosen_arithmetic(const Backend& backend, Precision precision) {
    return inference_arithmetic_for(backend, precision, std::string("--precision ") + name_of(precision));
}

Arithmetic chosen_training_arithmetic(const Backend& backend, Precision precision) {
    return arithmetic_for(backend, precision, std::string("--precision ") + name_of(precision));
}

}  // namespace headscope

// The --precision option.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/precision.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

std::vector<Precision> every_precision();
// The precisions in which models can be trained.
std::vector<Precision> training_precisions();

// Stores one of `known` in `precision`, which keeps its value if the option is not given.
CLI::Option* add_precision_option(CLI::App& command, Precision& precision, const std::string& help,
                                  const std::vector<Precision>& known = every_precision());
// The same with the training precisions; std::nullopt if the option is not given.
CLI::Option* add_precision_option(CLI::App& command, std::optional<Precision>& precision, const std::string& help);

// The arithmetic for inference in this precision on this device; Error if the device does not support it.
Arithmetic chosen_arithmetic(const Backend& backend, Precision precision);
// The same for training.
Arithmetic chosen_training_arithmetic(const Backend& backend, Precision precision);

}  // namespace headscope

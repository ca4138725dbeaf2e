// --precision, which every command that computes has.
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
// Of a model that is trained, or whose checkpoints are opened.
std::vector<Precision> training_precisions();

// One of `known` into `precision`, which keeps its value where the option is not given. Of a model that is only read
// all are known.
CLI::Option* add_precision_option(CLI::App& command, Precision& precision, const std::string& help,
                                  const std::vector<Precision>& known = every_precision());
// The same where a training's configuration has one already.
CLI::Option* add_precision_option(CLI::App& command, std::optional<Precision>& precision, const std::string& help);

// What --precision is on this device for a model that is only read; Error where it has it not.
Arithmetic chosen_arithmetic(const Backend& backend, Precision precision);
// The same for one that is trained.
Arithmetic chosen_training_arithmetic(const Backend& backend, Precision precision);

}  // namespace headscope

// --precision, which every command that computes has.
#pragma once

#include <optional>
#include <string>

#include "backend/precision.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

// f32, tf32, bf16, f16 or i8 into `precision`, which keeps its value where the option is not given.
CLI::Option* add_precision_option(CLI::App& command, Precision& precision, const std::string& help);
CLI::Option* add_precision_option(CLI::App& command, std::optional<Precision>& precision, const std::string& help);

// What --precision is on this device for a model that is only read; Error where it has it not.
Arithmetic chosen_arithmetic(const Backend& backend, Precision precision);
// The same for one that is trained.
Arithmetic chosen_training_arithmetic(const Backend& backend, Precision precision);

}  // namespace headscope

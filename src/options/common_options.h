// The options that most commands have: --model, --device, --precision and --json, worded the same in each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backend/open_options.h"
#include "infer/model_lookup.h"
#include "io/usual_places.h"
#include "options/precision_option.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

// A command adds the options that it has; the others keep their values.
struct CommonOptions {
    OpenOptions open = {};
    std::vector<std::filesystem::path> search_path = usual_places();
    std::vector<std::string> models = {};
    std::string bundled_model = kTranslationModel;  // for find_models(), set before add_model()
    std::vector<std::string> devices = {};
    Precision precision = Precision::F32;
    bool json = false;

    CLI::Option* add_model(CLI::App& command);
    // --model may be repeated: an ensemble.
    CLI::Option* add_models(CLI::App& command);
    CLI::Option* add_device(CLI::App& command);
    // --device takes a list or `all`, as one value.
    CLI::Option* add_device_list(CLI::App& command);
    // As add_device_list(), but --device may also be repeated.
    CLI::Option* add_device_lists(CLI::App& command);
    CLI::Option* add_precision(CLI::App& command, const std::vector<Precision>& known = every_precision());
    CLI::Option* add_json(CLI::App& command);

    // Empty without --device: see open_device().
    std::string device() const;
    // The models given, or else the one that find_model() finds.
    std::vector<std::string> find_models() const;
    std::string model_path() const;
};

}  // namespace headscope

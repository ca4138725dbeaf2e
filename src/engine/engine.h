// A model on the devices that run it.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "backend/open_options.h"
#include "engine/model_device.h"
#include "engine/service.h"

namespace headscope {

struct EngineOptions {
    std::vector<std::string> devices{""};  // as open_device() takes them; named twice, a device gets two copies
    std::vector<std::string> models;       // directories; several translate together (Translator)
    Precision precision = Precision::F32;
    // Skip devices that do not exist or lack the precision, instead of throwing: for a list that nobody typed.
    bool skip_unusable = false;
    OpenOptions open = {};
};

class Engine {
public:
    // Opens each device and loads the models there. Error for a device that does not exist or lacks the precision. A
    // device that exists and fails (lost twice, too small for the models) is skipped as long as another works; `warn`
    // gets the reason.
    Engine(const EngineOptions& options, const ModelDevice::Warn& warn);

    // Any thread may call these, also while a Service opens a lost device again.
    const ModelDirectory& model() const { return model_; }
    // As the model's decoding.json says, and where it leaves something open, as the paper (6.1).
    const TranslationOptions& options() const { return options_; }
    // For work beside translation. Its backend serves one thread at a time: not while a Service translates on it.
    ModelDevice& first() const { return *devices_.front(); }
    bool several() const { return devices_.size() > 1; }
    // For a Service, which the engine has to outlive.
    std::vector<Service::Member> members() const;

private:
    struct Skipped {
        std::string id;
        std::exception_ptr why;
    };
    static std::unique_ptr<ModelDevice> opened(const std::string& id, const EngineOptions& options,
                                               const ModelDevice::Warn& warn, std::vector<Skipped>& skipped);
    [[noreturn]] static void refuse(const std::vector<Skipped>& all);

    std::vector<std::unique_ptr<ModelDevice>> devices_;
    ModelDirectory model_;
    TranslationOptions options_;
};

}  // namespace headscope

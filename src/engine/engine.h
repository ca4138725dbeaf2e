// One model loaded on one or several devices.
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
    std::vector<std::string> devices{""};  // for open_device(); a device listed twice runs two copies
    std::vector<std::string> models;       // directories; several form an ensemble (LoadedModel)
    Architecture architecture{};           // of the models that the caller can use
    Precision precision = Precision::F32;
    // Skip devices that do not exist or lack the precision, instead of throwing. For lists that no user typed.
    bool skip_unusable = false;
    OpenOptions open = {};
};

class Engine {
public:
    // Opens each device and loads the models there. Error for a device that does not exist or lacks the precision. A
    // device that exists and fails (lost twice, too small for the models) is skipped as long as another works; `warn`
    // gets the reason.
    Engine(const EngineOptions& options, const ModelDevice::Warn& warn);

    // Thread-safe, also while a Service reopens a lost device.
    const ModelDirectory& model() const { return model_; }
    // The model's decoding.json over the paper's defaults (6.1).
    const DecodingOptions& options() const { return options_; }
    // For other work than translation. Its backend serves one thread at a time: do not use it while a Service
    // translates.
    ModelDevice& first() const { return *devices_.front(); }
    bool several() const { return devices_.size() > 1; }
    // For a Service, which the engine must outlive.
    std::vector<Service::Member> members() const;

private:
    struct Skipped {
        std::string id;
        std::exception_ptr why;
    };
    static std::unique_ptr<ModelDevice> opened(const std::string& id, const EngineOptions& options,
                                               const ModelDevice::Warn& warn, std::vector<Skipped>& skipped);
    [[noreturn]] static void fail(const std::vector<Skipped>& all);

    std::vector<std::unique_ptr<ModelDevice>> devices_;
    ModelDirectory model_;
    DecodingOptions options_;
};

}  // namespace headscope

// The engine of a command, with its model: what they report goes to standard error.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "options/common_options.h"

namespace headscope {

// "headscope: ..." on standard error.
void log_of_command(const std::string& message);

struct OpenedEngine {
    // On the command's device.
    OpenedEngine(const CommonOptions& common, const std::vector<std::string>& models)
        : engine({.devices = {common.device()}, .precision = common.precision, .open = common.open}, log_of_command),
          model(engine.open(models)) {
        tell();
    }
    // On the devices of a list.
    OpenedEngine(const CommonOptions& common, const std::vector<std::string>& models, const Engine::Log& log);

    const ModelDirectory& directory() const { return model->directory(); }
    DeviceUse first() const { return engine.devices().front(); }
    bool several() const { return engine.devices().size() > 1; }
    // The result of a request that the command waits for.
    template <class Request>
    typename Request::Result ask(Request request) {
        return engine.submit(model, std::move(request)).get();
    }
    void run(const std::function<void(const Place& place)>& work) { engine.run(model, work); }

    void tell() const;       // with --verbose
    void tell_idle() const;  // at the end: which of several devices have done nothing

    Engine engine;
    ModelHandle model;
};

}  // namespace headscope

#include "cli/opened_engine.h"

#include "cli/command.h"
#include "registry/device_list.h"
#include "registry/registry.h"

namespace headscope {

void log_of_command(const std::string& message) {
    log_line("headscope: " + message);
}

OpenedEngine::OpenedEngine(const CommonOptions& common, const std::vector<std::string>& models, const Engine::Log& log)
    : engine({.devices = asked_devices(common.device(), common.open),
              .precision = common.precision,
              .skip_unusable = asked_device(common.device(), common.open.settings) == "all",
              .open = common.open},
             log),
      model(engine.open(models)) {}

}  // namespace headscope

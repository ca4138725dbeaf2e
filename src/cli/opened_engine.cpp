#include "cli/opened_engine.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "cli/command.h"
#include "registry/device_list.h"
#include "registry/registry.h"

namespace headscope {

namespace {

// A command waits for its own requests, and makes no more than it needs.
constexpr Bounds kUnbounded{.requests = std::numeric_limits<std::size_t>::max(),
                            .tokens = std::numeric_limits<std::int64_t>::max(),
                            .tokens_of_client = std::numeric_limits<std::int64_t>::max()};

}  // namespace

void log_of_command(const std::string& message) {
    log_line("headscope: " + message);
}

OpenedEngine::OpenedEngine(const CommonOptions& common, const std::vector<std::string>& models, const Engine::Log& log)
    : engine({.devices = asked_devices(common.device(), common.open),
              .precision = common.precision,
              .skip_unusable = names_all(asked_device(common.device(), common.open.settings)),
              .bounds = kUnbounded,
              .open = common.open},
             log),
      model(engine.open(models)) {
    tell();
}

void OpenedEngine::tell() const {
    const ModelConfig& config = directory().config;
    log_detail(fmt::format("headscope: model {}: {}, {} parameters", directory().path, name_of(config.architecture),
                           fmt::group_digits(count_parameters(config))));
    for (const DeviceUse& device : engine.devices()) {
        log_detail(fmt::format("headscope: device {}: {}, {}, {}", device.name, device.info.name, device.info.driver,
                               name_of(device.arithmetic)));
    }
}

void OpenedEngine::tell_idle() const {
    const std::vector<DeviceUse> devices = engine.devices();
    if (std::all_of(devices.begin(), devices.end(), [](const DeviceUse& device) { return device.batches == 0; })) {
        return;  // there was no work at all
    }
    for (const DeviceUse& device : devices) {
        if (device.batches == 0 && device.failure.empty()) {
            log_line(fmt::format(
                "headscope: {} had no work: the other devices took all parts; a smaller --batch-tokens makes more",
                device.name));
        }
    }
}

}  // namespace headscope

#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "support/check.h"

namespace headscope {

// Returns null if the device is skipped.
std::unique_ptr<ModelDevice> Engine::opened(const std::string& id, const EngineOptions& options,
                                            const ModelDevice::Warn& warn, std::vector<Skipped>& skipped) {
    std::unique_ptr<ModelDevice> device;
    try {
        device = std::make_unique<ModelDevice>(id, options.precision, options.models, options.open, warn);
        device->load();
        return device;
    } catch (const Error& error) {
        if (device == nullptr && !device_failed(error) && !options.skip_unusable) {
            throw;
        }
        skipped.push_back({device == nullptr ? id : device->info().id, std::current_exception()});
        return nullptr;
    }
}

Engine::Engine(const EngineOptions& options, const ModelDevice::Warn& warn) {
    std::vector<Skipped> skipped;
    for (const std::string& id : options.devices) {
        if (std::unique_ptr<ModelDevice> device = opened(id, options, warn, skipped)) {
            devices_.push_back(std::move(device));
        }
    }
    if (devices_.empty()) {
        fail(skipped);
    }
    for (const Skipped& each : skipped) {
        warn(fmt::format("skipping {}: {}", each.id, what_of(each.why)));
    }
    const LoadedModel& translator = first().translator();
    model_ = translator.model();
    require_architecture(model_, options.architecture);
    options_ = {.search = translator.search_options({}),
                .compute = first().arithmetic().compute,
                .split_longer_than = translator.decoding_choices().split_longer_than};
}

// An error that all devices share, such as an unreadable model, is not the devices' fault and is thrown as it is.
void Engine::fail(const std::vector<Skipped>& all) {
    if (all.empty()) {
        throw Error("no device to translate on; headscope devices lists the devices and why they cannot be used");
    }
    const std::string first = what_of(all.front().why);
    if (std::all_of(all.begin(), all.end(), [&](const Skipped& each) { return what_of(each.why) == first; })) {
        std::rethrow_exception(all.front().why);
    }
    std::string reasons;
    for (const Skipped& each : all) {
        reasons += fmt::format("\n  {}: {}", each.id, what_of(each.why));
    }
    throw Error("none of the devices can be used to translate:" + reasons);
}

std::vector<Service::Member> Engine::members() const {
    std::vector<Service::Member> members;
    std::map<std::string, int> copies;
    for (const auto& device : devices_) {
        const std::string& id = device->info().id;
        const int copy = ++copies[id];
        members.push_back({.name = copy == 1 ? id : fmt::format("{} ({})", id, copy),
                           .translator = &device->translator(),
                           .compute = device->arithmetic().compute,
                           .reopen = [lost = device.get()] { return &lost->reopen(); }});
    }
    return members;
}

}  // namespace headscope

#include "cli/translation_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "registry/registry.h"
#include "support/check.h"

namespace headscope {

// Null for one that is left out.
std::unique_ptr<ModelDevice> TranslationDevices::opened(const std::string& id, const TranslationFlags& flags,
                                                        const std::vector<std::string>& models,
                                                        const ModelDevice::Warn& warn, std::vector<LeftOut>& left_out) {
    std::unique_ptr<ModelDevice> device;
    try {
        device = std::make_unique<ModelDevice>(id, flags.precision, models, warn);
        device->load();
        return device;
    } catch (const Error& error) {
        if (device == nullptr && !device_failed(error) && asked_device(flags.device) != "all") {
            throw;
        }
        left_out.push_back({device == nullptr ? id : device->info().id, std::current_exception()});
        return nullptr;
    }
}

TranslationDevices::TranslationDevices(const std::vector<std::string>& ids, const TranslationFlags& flags,
                                       const std::vector<std::string>& models, const ModelDevice::Warn& warn) {
    std::vector<Fleet::Member> members;
    std::map<std::string, int> copies;  // of a device that was named several times
    std::vector<LeftOut> left_out;
    for (const std::string& id : ids) {
        std::unique_ptr<ModelDevice> device = opened(id, flags, models, warn, left_out);
        if (device == nullptr) {
            continue;
        }
        const TranslationOptions options =
            translation_options(flags, device->translator().decoding_choices(), device->backend());
        const std::string& own = device->info().id;
        const int copy = ++copies[own];
        members.push_back({.name = copy == 1 ? own : fmt::format("{} ({})", own, copy),
                           .translator = &device->translator(),
                           .compute = options.compute,
                           .reopen = [lost = device.get()] { return &lost->reopen(); }});
        options_ = crew_.empty() ? options : options_;
        crew_.push_back(std::move(device));
    }
    if (crew_.empty()) {
        complain_of(left_out);
    }
    for (const LeftOut& each : left_out) {
        warn(fmt::format("{} is left out: {}", each.id, what_of(each.why)));
    }
    fleet_ = std::make_unique<Fleet>(std::move(members), warn);
}

// What all fail at alike, such as a model that cannot be read, is none of the devices'.
void TranslationDevices::complain_of(const std::vector<LeftOut>& all) {
    if (all.empty()) {
        throw Error("there is no device to translate on; headscope devices lists them, and why they cannot be used");
    }
    const std::string first = what_of(all.front().why);
    if (std::all_of(all.begin(), all.end(), [&](const LeftOut& each) { return what_of(each.why) == first; })) {
        std::rethrow_exception(all.front().why);
    }
    std::string each_why;
    for (const LeftOut& each : all) {
        each_why += fmt::format("\n  {}: {}", each.id, what_of(each.why));
    }
    throw Error("none of the devices can be used to translate:" + each_why);
}

}  // namespace headscope

#include "app/translation_devices.h"

#include <fmt/format.h>

#include <map>

#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {

TranslationDevices::TranslationDevices(const TranslationFlags& flags, const std::vector<std::string>& models,
                                       const std::function<void(const std::string&)>& warn) {
    const std::vector<std::string> ids = device_list(flags.device);
    std::vector<Fleet::Member> members;
    std::map<std::string, int> copies;  // of a device that was named several times
    for (const std::string& id : ids) {
        try {
            Hand hand;
            hand.backend = open_device(id);
            const TranslationOptions options = translation_options(flags, *hand.backend);
            hand.translator = std::make_unique<Translator>(*hand.backend, models,
                                                           chosen_arithmetic(*hand.backend, flags.precision).storage);
            const std::string& own = hand.backend->device().id;
            const int copy = ++copies[own];
            members.push_back({.name = copy == 1 ? own : fmt::format("{} ({})", own, copy),
                               .translator = hand.translator.get(),
                               .compute = options.compute});
            options_ = crew_.empty() ? options : options_;
            crew_.push_back(std::move(hand));
        } catch (const Error& error) {
            if (flags.device != "all") {
                throw;
            }
            warn(fmt::format("{} is left out: {}", id, error.what()));
        }
    }
    if (crew_.empty()) {
        throw Error("there is no device to translate on; headscope devices lists them, and why they cannot be used");
    }
    if (several()) {
        fleet_ = std::make_unique<Fleet>(std::move(members), warn);
    }
}

const LineTranslator& TranslationDevices::all() const {
    return fleet_ != nullptr ? static_cast<const LineTranslator&>(*fleet_) : translator();
}

std::vector<Fleet::Share> TranslationDevices::shares() const {
    return fleet_ != nullptr ? fleet_->shares() : std::vector<Fleet::Share>{};
}

}  // namespace headscope

#include "app/translation_devices.h"

#include <fmt/format.h>

#include <map>

#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {

TranslationDevices::Hand TranslationDevices::open(const std::string& id, const TranslationFlags& flags,
                                                  const std::vector<std::string>& models) {
    Hand hand;
    hand.backend = open_device(id);
    hand.translator =
        std::make_unique<Translator>(*hand.backend, models, chosen_arithmetic(*hand.backend, flags.precision).storage);
    return hand;
}

TranslationDevices::TranslationDevices(const TranslationFlags& flags, const std::vector<std::string>& models,
                                       const std::function<void(const std::string&)>& warn) {
    std::vector<Fleet::Member> members;
    std::map<std::string, int> copies;  // of a device that was named several times
    for (const std::string& id : device_list(flags.device)) {
        try {
            Hand hand = open(id, flags, models);
            const TranslationOptions options =
                translation_options(flags, hand.translator->decoding_choices(), *hand.backend);
            const std::string own = hand.backend->device().id;
            const int copy = ++copies[own];
            members.push_back({.name = copy == 1 ? own : fmt::format("{} ({})", own, copy),
                               .translator = hand.translator.get(),
                               .compute = options.compute,
                               .reopen = [this, own, flags, models] {
                                   Hand fresh = open(own, flags, models);
                                   const std::lock_guard lock(mutex_);
                                   fresh_.push_back(std::move(fresh));
                                   return static_cast<const Translator*>(fresh_.back().translator.get());
                               }});
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
    fleet_ = std::make_unique<Fleet>(std::move(members), warn);
}

}  // namespace headscope

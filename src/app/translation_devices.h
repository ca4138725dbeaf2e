// The devices that translate, each with a copy of the models of its own.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/translation_flags.h"
#include "infer/fleet.h"

namespace headscope {

class TranslationDevices {
public:
    // flags.device as device_list() takes it. Error for a device that was named and cannot be used; of "all" such a one
    // is left out, and `warn` gets why.
    TranslationDevices(const TranslationFlags& flags, const std::vector<std::string>& models,
                       const std::function<void(const std::string& message)>& warn);

    // All of them at once; one that is lost is opened again, once.
    const LineTranslator& all() const { return *fleet_; }
    const TranslationOptions& options() const { return options_; }
    // The first, to look at its models; its backend is in use while all() translates.
    const Translator& translator() const { return *crew_.front().translator; }
    Backend& backend() const { return *crew_.front().backend; }
    bool several() const { return crew_.size() > 1; }
    // What each has done.
    std::vector<Fleet::Share> shares() const { return fleet_->shares(); }

private:
    struct Hand {
        std::unique_ptr<Backend> backend;
        std::unique_ptr<Translator> translator;
    };
    static Hand open(const std::string& id, const TranslationFlags& flags, const std::vector<std::string>& models);

    std::vector<Hand> crew_;
    std::mutex mutex_;
    std::vector<Hand> fresh_;  // in place of those that were lost
    TranslationOptions options_;
    std::unique_ptr<Fleet> fleet_;
};

}  // namespace headscope

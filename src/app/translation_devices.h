// The devices that translate, each with a copy of the models of its own.
#pragma once

#include <functional>
#include <memory>
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

    // All of them at once.
    const LineTranslator& all() const;
    const TranslationOptions& options() const { return options_; }
    // The first, to look at its models. While all() translates its backend is in use where there are several.
    const Translator& translator() const { return *crew_.front().translator; }
    Backend& backend() const { return *crew_.front().backend; }
    bool several() const { return crew_.size() > 1; }
    // Of several: what each has done.
    std::vector<Fleet::Share> shares() const;

private:
    struct Hand {
        std::unique_ptr<Backend> backend;
        std::unique_ptr<Translator> translator;
    };
    std::vector<Hand> crew_;
    TranslationOptions options_;
    std::unique_ptr<Fleet> fleet_;  // where there are several
};

}  // namespace headscope

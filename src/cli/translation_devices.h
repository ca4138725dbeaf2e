// The devices that translate, each with a copy of the models of its own.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "cli/model_device.h"
#include "cli/translate/translation_flags.h"
#include "infer/fleet.h"

namespace headscope {

class TranslationDevices {
public:
    // `ids` as open_device() takes them; flags.device says what they were asked for by. Error for one that was named
    // and that there is not; of "all" such a one is left out. So is, beside another that works, one that is there and
    // fails before it translates: lost twice, or too small for the models. `warn` gets why.
    TranslationDevices(const std::vector<std::string>& ids, const TranslationFlags& flags,
                       const std::vector<std::string>& models, const ModelDevice::Warn& warn);

    // All of them at once; one that is lost is opened again.
    const LineTranslator& all() const { return *fleet_; }
    const TranslationOptions& options() const { return options_; }
    const ModelDirectory& model() const { return fleet_->model(); }
    // In use while all() translates; where it runs anything of its own, all() is over.
    ModelDevice& first() const { return *crew_.front(); }
    bool several() const { return crew_.size() > 1; }
    // What each has done.
    std::vector<Fleet::Share> shares() const { return fleet_->shares(); }

private:
    struct LeftOut {
        std::string id;
        std::exception_ptr why;
    };
    static std::unique_ptr<ModelDevice> opened(const std::string& id, const TranslationFlags& flags,
                                               const std::vector<std::string>& models, const ModelDevice::Warn& warn,
                                               std::vector<LeftOut>& left_out);
    [[noreturn]] static void complain_of(const std::vector<LeftOut>& all);

    std::vector<std::unique_ptr<ModelDevice>> crew_;
    TranslationOptions options_;
    std::unique_ptr<Fleet> fleet_;
};

}  // namespace headscope

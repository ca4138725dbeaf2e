// A device of a service: translates, is reopened when it is lost, and shows that it still works.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/known_work.h"
#include "engine/service.h"
#include "infer/fresh_device.h"

namespace headscope {

// For the device's own thread.
class ServiceDevice {
public:
    using Report = std::function<void(const std::string& message)>;

    // `report` is told when the device was reopened.
    ServiceDevice(Service::Member member, Report report) : member_(std::move(member)), report_(std::move(report)) {}

    const std::string& name() const { return member_.name; }
    // If the device is lost and has a chance left, it is reopened and the work repeated.
    void translate(const std::vector<TranslationUnit*>& units, const TranslationOptions& options);
    // The same without a repetition.
    void translate_once(const std::vector<TranslationUnit*>& units, const TranslationOptions& options);
    // Whether the device, reopened if it was lost, does what it or another one has done before. A device that was lost
    // before any success does not. A full memory is no defect.
    bool works(const KnownWork& known);
    // The losses since the last translate() began were a request's fault: they do not count.
    void forgive() { chance_ = before_; }

private:
    void run(const std::vector<TranslationUnit*>& units, TranslationOptions options);
    void kept_open(const std::function<void()>& work);

    Service::Member member_;  // its translator is null if reopening has failed
    const Report report_;
    SecondChance chance_;
    SecondChance before_;
    bool lost_ = false;
};

}  // namespace headscope

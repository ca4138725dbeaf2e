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

    // `report` receives a message when the device was reopened.
    ServiceDevice(Service::Member member, Report report) : member_(std::move(member)), report_(std::move(report)) {}

    const std::string& name() const { return member_.name; }
    // If the device is lost and has a chance left, it is reopened and the work repeated.
    void translate(const std::vector<LinePart*>& units, const DecodingOptions& options);
    // The same without a repetition.
    void translate_once(const std::vector<LinePart*>& units, const DecodingOptions& options);
    // After a failure: whether the device, reopened if it was lost, does what it or another one has done before, or a
    // small product before any success. A full memory is no defect. If it does, the losses since the last translate()
    // began were a request's fault and do not count.
    bool works(const KnownWork& known);
    // Whether it was lost since it was opened, or since works() was true.
    bool lost() const { return lost_; }

private:
    void run(const std::vector<LinePart*>& units, DecodingOptions options);
    void kept_open(SecondChance& chance, const std::function<void()>& work);

    Service::Member member_;  // its translator is null if reopening has failed
    const Report report_;
    SecondChance chance_;
    SecondChance before_;  // as it was when the last translate() began
    bool lost_ = false;
};

}  // namespace headscope

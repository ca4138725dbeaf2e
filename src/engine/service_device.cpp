#include "engine/service_device.h"

#include <fmt/format.h>

#include "backend/backend.h"

namespace headscope {

void ServiceDevice::run(const std::vector<LinePart*>& units, DecodingOptions options) {
    options.compute = member_.compute;
    try {
        member_.translator->translate_units(units, options);
    } catch (const DeviceLost&) {
        lost_ = true;
        throw;
    }
}

void ServiceDevice::kept_open(SecondChance& chance, const std::function<void()>& work) {
    if (member_.reopen == nullptr) {
        work();
        return;
    }
    const auto reopen = [&] {
        member_.translator = nullptr;
        member_.translator = member_.reopen();
        lost_ = false;
    };
    with_fresh_device(chance, work, reopen, [&](const std::string& what) {
        report_(fmt::format("reopened {} after a failure: {}", member_.name, what));
    });
}

void ServiceDevice::translate(const std::vector<LinePart*>& units, const DecodingOptions& options) {
    before_ = chance_;
    kept_open(chance_, [&] { run(units, options); });
}

void ServiceDevice::translate_once(const std::vector<LinePart*>& units, const DecodingOptions& options) {
    run(units, options);
}

bool ServiceDevice::works(const KnownWork& known) {
    if (member_.translator == nullptr) {
        return false;
    }
    SecondChance chance = before_;
    chance.earn();
    try {
        kept_open(chance, [&] { known.run(*member_.translator, member_.compute); });
    } catch (const OutOfMemory&) {  // is no defect
    } catch (...) {
        return false;
    }
    chance_ = before_;
    lost_ = false;
    return true;
}

}  // namespace headscope

#include "engine/attempt.h"

#include <algorithm>
#include <functional>

#include "backend/backend.h"

namespace headscope {

namespace {

std::exception_ptr failure_of(const std::function<void()>& work) {
    try {
        work();
        return nullptr;
    } catch (...) {
        return std::current_exception();
    }
}

std::exception_ptr attempt_together(ServiceDevice& device, KnownWork& known, std::vector<Attempted>& units,
                                    const DecodingOptions& options) {
    std::vector<LinePart*> together;
    for (const Attempted& each : units) {
        together.push_back(each.unit);
    }
    const std::exception_ptr failure = failure_of([&] { device.translate(together, options); });
    if (failure == nullptr) {
        std::ranges::for_each(units, [](Attempted& each) { each.done = true; });
        known.remember(together);
    }
    return failure;
}

}  // namespace

std::exception_ptr attempt(ServiceDevice& device, KnownWork& known, std::vector<Attempted>& units,
                           const DecodingOptions& options) {
    const std::exception_ptr together = attempt_together(device, known, units, options);
    const auto by_callback = [&](const Attempted& each) {
        return !device.lost() && each.job->callback_failure() != nullptr;
    };
    if (together == nullptr || std::ranges::all_of(units, by_callback)) {
        return nullptr;
    }
    if (!device.works(known)) {
        return together;
    }
    if (units.size() == 1) {
        units.front().why = together;
        return nullptr;
    }
    for (Attempted& each : units) {
        if (each.job->stopped()) {
            continue;
        }
        const std::exception_ptr alone = failure_of([&] { device.translate_once({each.unit}, options); });
        each.done = alone == nullptr;
        if (each.done) {
            known.remember({each.unit});
        } else if (!by_callback(each)) {
            if (!device.works(known)) {
                return alone;
            }
            each.why = alone;
        }
    }
    return nullptr;
}

bool depends_on_device(const std::exception_ptr& why) {
    try {
        std::rethrow_exception(why);
    } catch (const OutOfMemory&) {
        return true;
    } catch (const DeviceLost&) {
        return true;
    } catch (...) {
        return false;
    }
}

}  // namespace headscope

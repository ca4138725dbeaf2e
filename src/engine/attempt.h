// One attempt of a device at merged batches, and whose fault it is if that fails.
#pragma once

#include <exception>
#include <vector>

#include "engine/job.h"
#include "engine/known_work.h"
#include "engine/service_device.h"

namespace headscope {

struct Attempted {
    LinePart* unit = nullptr;
    const Job* job = nullptr;  // which the unit belongs to
    bool done = false;
    // Why it failed alone on a device that works otherwise. Null if it is done, if its job was stopped before or by a
    // callback that threw, or if the device was given up before.
    std::exception_ptr why = nullptr;
};

// Translates the units together. If that fails, the device proves with known work that it still works, and the units
// are tried alone, once. Returns why the device has to be given up, or null.
std::exception_ptr attempt(ServiceDevice& device, KnownWork& known, std::vector<Attempted>& units,
                           const DecodingOptions& options);

// Whether another device may succeed: this one has too little memory, or was lost.
bool depends_on_device(const std::exception_ptr& why);

}  // namespace headscope

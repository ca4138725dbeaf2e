// Whose fault it is if works that were done together have failed.
#pragma once

#include <exception>
#include <span>
#include <vector>

#include "engine/device.h"
#include "engine/job.h"

namespace headscope {

struct Attempted {
    Work* work = nullptr;
    bool done = false;
    // Why it failed alone on a device that works otherwise. Null if it is done, if its job was stopped before or by a
    // callback that threw, or if the device was given up before.
    std::exception_ptr why = nullptr;
};

// The works that are not done yet, for a new session.
std::vector<Work*> undone(std::span<const Attempted> works);

// After a session failed with `failure`: a lost device is reopened and the works repeated; halves may fit into a memory
// that all did not; else the works are tried alone, once, and if one fails, the device proves with known work that it
// still works.
// Returns why the device has to be given up, or null.
std::exception_ptr try_again(Device& device, std::span<Attempted> works, std::exception_ptr failure);

}  // namespace headscope

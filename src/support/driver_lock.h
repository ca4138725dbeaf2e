// One at a time with Vulkan's drivers, which the backend and the window both load.
#pragma once

#include <mutex>

namespace headscope {

// Of the process. To be held while an instance or a device of Vulkan is made or unmade, and while a child is forked to
// try a driver: NVIDIA's of 2023 (R535) and later crash where two threads make instances at once (wgpu's issue 5930),
// the loader reads a list of devices that another thread changes (Vulkan-Loader's issue 2018), and a child must not
// inherit a loader that another thread is in the middle of.
std::mutex& driver_lock();

}  // namespace headscope

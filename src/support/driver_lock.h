// Serializes calls that are unsafe in Vulkan drivers, which both the backend and the window load.
#pragma once

#include <mutex>

namespace headscope {

// One lock per process. Hold it while creating or destroying a Vulkan instance or device and while forking a child to
// test a driver. NVIDIA's drivers since R535 (2023) crash if two threads create instances at once (wgpu issue 5930);
// the loader reads a device list that another thread changes (Vulkan-Loader issue 2018); and a child must not inherit a
// loader in an inconsistent state.
std::mutex& driver_lock();

}  // namespace headscope

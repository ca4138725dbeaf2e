// Whether it is worth looking for a real GPU.
#pragma once

#include <string>

#include "support/settings.h"

namespace headscope {

// False only where the kernel shows no GPU. Loading the drivers to learn the same takes tenths of a second (Vulkan's
// software one brings LLVM, and looks at every core), which the default device would add to the start of every command
// on a machine without a GPU.
//
// A GPU is possible where there is any of
//  - a device file of a driver: /dev/dri (all drivers of the kernel itself), /dev/nvidia*, /dev/nvhost*,
//    /dev/nvgpu*, /dev/nvmap (Tegra), /dev/dxg (WSL), /dev/kfd, /dev/kgsl*, /dev/mali*, /dev/pvr*
//  - a display controller or accelerator on PCI: NVIDIA's device files may appear only when its driver is first loaded
//  - HEADSCOPE_CUDA_DRIVER, VK_DRIVER_FILES, VK_ICD_FILENAMES or VK_ADD_DRIVER_FILES, with which someone names a
//    driver, perhaps of a GPU across a network
//  - no /sys to see it in.
// What this cannot see is still listed by `headscope devices` and opened by --device cuda or vulkan. `root` is for
// tests.
bool gpu_possible(const Settings& settings, const std::string& root = "");

}  // namespace headscope

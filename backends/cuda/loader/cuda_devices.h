// The cards that the CUDA backend runs on, as VulkanDevices is for Vulkan. The backend itself is in a module
// (backends/cuda/module.h), so that a program runs on machines with any NVIDIA driver, or none.
// Of the settings
//  - HEADSCOPE_CUDA_DRIVER names the driver's library, otherwise libcuda.so.1
//  - HEADSCOPE_CUDA_MODULES names the modules' folder, otherwise they are beside the program or in ../lib/headscope
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/open_options.h"

namespace headscope {

namespace cuda {

struct Module;

// Where the parts are looked for.
struct Places {
    std::string driver;                // what dlopen is given
    std::vector<std::string> folders;  // of modules
    std::string contract;              // that a module has to have
    static Places from(const Settings& settings);
};

}  // namespace cuda

// One look at what there is, from which devices are listed and opened. A backend opened from it may outlive it.
class CudaDevices {
public:
    // Never throws for a missing driver, card or module.
    explicit CudaDevices(const OpenOptions& options);
    CudaDevices(const OpenOptions& options, const cuda::Places& places);

    // The cards as cuda:0, cuda:1 ... in the driver's own order, as CUDA_VISIBLE_DEVICES has it. Never empty: without a
    // driver or a card there is one entry whose `rejected` says why.
    const std::vector<DeviceInfo>& list() const { return list_; }

    // Error if there is no such device, it was rejected or it cannot be opened, saying why.
    std::unique_ptr<Backend> open(int index) const;

private:
    void find(const cuda::Places& places);

    const OpenOptions options_;
    std::vector<DeviceInfo> list_;
    std::vector<const cuda::Module*> modules_;  // for each of list_, null for a rejected one
};

}  // namespace headscope

// The cards for the CUDA backend, like VulkanDevices for Vulkan. The backend itself is in a module
// (backends/cuda/module.h), so that a program runs on machines with any NVIDIA driver, or none. Settings:
//  - HEADSCOPE_CUDA_DRIVER: the driver's library, by default libcuda.so.1
//  - HEADSCOPE_CUDA_MODULES: the modules' folder, by default the program's, or ../lib/headscope
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/open_options.h"

namespace headscope {

namespace cuda {

struct Module;

// Where to look for the parts.
struct Places {
    std::string driver;                // for dlopen
    std::vector<std::string> folders;  // of modules
    std::string contract;              // that a module must have
    static Places from(const Settings& settings);
};

}  // namespace cuda

// The CUDA devices, to list and open. An opened backend may outlive this.
class CudaDevices {
public:
    // Never throws for a missing driver, card or module.
    explicit CudaDevices(const OpenOptions& options);
    CudaDevices(const OpenOptions& options, const cuda::Places& places);

    // The cards as cuda:0, cuda:1 ... in the driver's order, as CUDA_VISIBLE_DEVICES selects. Never empty: without a
    // driver or a card there is one entry whose `rejected` has the reason.
    const std::vector<DeviceInfo>& list() const { return list_; }

    // Error with the reason if there is no such device, or it was rejected or cannot be opened.
    std::unique_ptr<Backend> open(int index) const;

private:
    void find(const cuda::Places& places);

    const OpenOptions options_;
    std::vector<DeviceInfo> list_;
    std::vector<const cuda::Module*> modules_;  // one for each of list_, null for a rejected device
};

}  // namespace headscope

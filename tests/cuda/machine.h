// A fake machine: the answers of the fake driver, and a folder with some of the fake modules.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/loader/cuda_devices.h"
#include "tests/house/open_options.h"
#include "tests/io/temporary_folder.h"
#include "tests/support/variable.h"

namespace headscope::cuda_tests {

inline std::string fake(const std::string& name) {
    return HEADSCOPE_FAKE_CUDA + name + ".so";
}

class Machine {
public:
    // `cards` as fake_driver.cpp reads them.
    Machine(int driver_version, const std::string& cards)
        : version_("HEADSCOPE_FAKE_CUDA_VERSION", std::to_string(driver_version)),
          cards_("HEADSCOPE_FAKE_CUDA_CARDS", cards) {}

    // Adds fake_cuda's library `from` as a file of the folder.
    Machine& with(const std::string& from, const std::string& as) {
        std::filesystem::copy_file(fake(from), folder_.file(as));
        return *this;
    }
    void init_gives(int result) const { init_.set(std::to_string(result)); }

    cuda::Places places() const {
        cuda::Places places = cuda::Places::from(environment_options().settings);
        places.folders = {folder_.file("")};
        return places;
    }
    std::vector<DeviceInfo> list() const { return CudaDevices(environment_options(), places()).list(); }
    std::string file(const std::string& name) const { return folder_.file(name); }

private:
    Variable driver_{"HEADSCOPE_CUDA_DRIVER", fake("driver")};
    Variable modules_{"HEADSCOPE_CUDA_MODULES", std::nullopt};
    Variable visible_{"CUDA_VISIBLE_DEVICES", std::nullopt};
    Variable device_{"HEADSCOPE_DEVICE", std::nullopt};
    Variable init_{"HEADSCOPE_FAKE_CUDA_INIT", std::nullopt};
    Variable version_;
    Variable cards_;
    TemporaryFolder folder_;
};

constexpr const char* kH200 = "NVIDIA H200,90,143771";
constexpr const char* kP100 = "Tesla P100-PCIE-16GB,60,16276";

}  // namespace headscope::cuda_tests

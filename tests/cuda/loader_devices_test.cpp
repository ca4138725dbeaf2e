// CUDA devices as `headscope devices` lists them and --device opens them, on fake machines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "machine.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::cuda_tests;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

constexpr const char* kModule12 = "libheadscope_cuda12.so";
constexpr const char* kModule13 = "libheadscope_cuda13.so";

std::string value_of(const std::vector<std::pair<std::string, std::string>>& named, const std::string& name) {
    const auto found = std::find_if(named.begin(), named.end(), [&](const auto& entry) { return entry.first == name; });
    return found == named.end() ? "" : found->second;
}

// The only rejection on a machine.
std::string only_rejection(const Machine& machine) {
    const std::vector<DeviceInfo> devices = machine.list();
    REQUIRE(devices.size() == 1);
    CHECK(devices[0].gpu == (devices[0].id == "cuda:0"));
    CHECK_FALSE(devices[0].software);
    const std::string title = devices[0].id + (devices[0].gpu ? " (" + devices[0].name + ")" : "");
    CHECK(error_of([&] { CudaDevices(environment_options(), machine.places()).open(0); }) ==
          title + " cannot be used: " + devices[0].rejected);
    return devices[0].rejected;
}

}  // namespace

TEST_CASE("each card reports the module that it runs", "[cuda][devices]") {
    Machine machine(13000, std::string(kP100) + ";" + kH200 + ";Next,130,1000");
    machine.with("module12", kModule12).with("module13", kModule13);
    const std::vector<DeviceInfo> devices = machine.list();
    REQUIRE(devices.size() == 3);
    CHECK(devices[0].id == "cuda:0");
    CHECK(devices[0].backend == "cuda");
    CHECK(devices[0].name == "Tesla P100-PCIE-16GB");
    CHECK(devices[0].driver == "CUDA 13.0 driver, module of CUDA 12.4");
    CHECK(devices[0].rejected.empty());
    CHECK(value_of(devices[0].limits, "compute capability") == "6.0");
    CHECK(value_of(devices[0].features, "F16 matrix cores") == "no");
    CHECK(value_of(devices[0].features, "machine code") == "yes");
    CHECK(devices[1].id == "cuda:1");
    CHECK(devices[1].driver == "CUDA 13.0 driver, module of CUDA 13.0");
    CHECK(devices[1].gpu);
    CHECK_FALSE(devices[1].software);
    CHECK(devices[1].memory_bytes == std::uint64_t{143771} << 20U);
    CHECK(value_of(devices[1].limits, "compute capability") == "9.0");
    CHECK(value_of(devices[1].limits, "multiprocessors") == "132");
    CHECK(value_of(devices[1].limits, "shared memory") == "227 KiB");
    CHECK(value_of(devices[1].limits, "L2 cache") == "50 MiB");
    CHECK(value_of(devices[1].features, "BF16 and TF32 matrix cores") == "yes");
    CHECK(value_of(devices[2].limits, "compute capability") == "13.0");
    CHECK(value_of(devices[2].features, "machine code") == "no, PTX of sm_120");
}

TEST_CASE("a device is opened by its module, with the driver's ordinal", "[cuda][devices]") {
    Machine machine(12040, std::string(kP100) + ";" + kH200);
    machine.with("module12", kModule12);
    std::unique_ptr<Backend> backend;
    {
        const CudaDevices devices(environment_options(), machine.places());
        backend = devices.open(0);
        CHECK(error_of([&] { devices.open(1); }) ==
              "cuda:1 (NVIDIA H200) cannot be opened: the fake module was asked for ordinal 1");
        CHECK_THAT(error_of([&] { devices.open(2); }), Contains("unknown device cuda:2: found 2 CUDA device(s)"));
        CHECK_THAT(error_of([&] { devices.open(-1); }), Contains("unknown device cuda:-1"));
    }
    CHECK(backend->device().name == "a test's device");
    CHECK(backend->empty({2, 3}, DType::F32).elements() == 6);
}

TEST_CASE("an emulated module is software, not a GPU", "[cuda][devices]") {
    Machine machine(13000, kH200);
    machine.with("emulated", "libheadscope_cuda_emulated.so");
    REQUIRE(machine.list().size() == 1);
    CHECK(machine.list()[0].software);
    CHECK_FALSE(machine.list()[0].gpu);
    CHECK(machine.list()[0].rejected.empty());
    machine.with("module12", kModule12);
    CHECK(machine.list()[0].gpu);
}

TEST_CASE("without a driver, a card or a module the reason is given", "[cuda][devices]") {
    const Machine machine(13000, kH200);
    CHECK_THAT(only_rejection(machine), StartsWith("no module with the CUDA backend") && Contains(machine.file("")) &&
                                            Contains("HEADSCOPE_CUDA_MODULES"));
    CHECK(machine.list()[0].id == "cuda:0");
    std::filesystem::remove_all(machine.file(""));
    CHECK_THAT(only_rejection(machine), Contains(machine.file("") + " (no such folder)"));
    machine.init_gives(803);
    CHECK_THAT(only_rejection(machine), Contains("restart the machine"));
    CHECK(machine.list()[0].id == "cuda");
    const Variable driver("HEADSCOPE_CUDA_DRIVER", "libcuda-of-nobody.so.1");
    CHECK_THAT(only_rejection(machine), StartsWith("no NVIDIA driver (there is no libcuda-of-nobody.so.1"));
}

TEST_CASE("the reason includes every module's rejection", "[cuda][devices]") {
    Machine machine(13000, kP100);
    machine.with("module13", kModule13);
    CHECK(
        only_rejection(machine) ==
        "libheadscope_cuda13.so has code for sm_75 and up, this card is sm_60: install the module built with CUDA 12");
    machine.with("stale", kModule12);
    CHECK_THAT(only_rejection(machine),
               Contains(std::string(kModule12) + " does not belong to this program") &&
                   Contains("both together; libheadscope_cuda13.so has code for sm_75 and up"));
}

TEST_CASE("a driver that is too old for one module runs the other", "[cuda][devices]") {
    Machine machine(12020, kH200);
    machine.with("module13", kModule13);
    CHECK_THAT(only_rejection(machine), Contains("needs a driver for CUDA 13.0 or newer, this one is for 12.2"));
    machine.with("module12", kModule12);
    CHECK(machine.list()[0].driver == "CUDA 12.2 driver, module of CUDA 12.4");
    CHECK(machine.list()[0].rejected.empty());
}

TEST_CASE("a broken module does not prevent using a good one", "[cuda][devices]") {
    Machine machine(13000, kH200);
    machine.with("needs_library", kModule13).with("module12", kModule12);
    CHECK(machine.list()[0].driver == "CUDA 13.0 driver, module of CUDA 12.4");
    CHECK(machine.list()[0].rejected.empty());
}

TEST_CASE("a module is loaded only if some card runs no newer one", "[cuda][devices]") {
    const auto loaded = [](const Machine& machine, const char* module) {
        return read_all("/proc/self/maps").find(machine.file(module)) != std::string::npos;
    };
    Machine newer(13000, std::string("Broken,0,100;Closed,90,0;") + kH200);
    newer.with("module12", kModule12).with("module13", kModule13);
    CHECK(newer.list()[2].rejected.empty());
    CHECK(loaded(newer, kModule13));
    CHECK_FALSE(loaded(newer, kModule12));
    Machine both(13000, std::string(kH200) + ";" + kP100);
    both.with("module12", kModule12).with("module13", kModule13);
    CHECK(both.list()[1].rejected.empty());
    CHECK(loaded(both, kModule13));
    CHECK(loaded(both, kModule12));
}

TEST_CASE("an older module with machine code for a card precedes a newer one with PTX", "[cuda][devices]") {
    Machine machine(13000, kH200);
    machine.with("module12", kModule12).with("ptx13", kModule13);
    CHECK(machine.list()[0].driver == "CUDA 13.0 driver, module of CUDA 12.4");
    CHECK(value_of(machine.list()[0].features, "machine code") == "yes");
}

TEST_CASE("a card that fails or may not compute is listed with the reason", "[cuda][devices]") {
    Machine machine(13000, std::string("Broken,0,100;Closed,90,0;") + kH200);
    machine.with("module12", kModule12);
    const std::vector<DeviceInfo> devices = machine.list();
    REQUIRE(devices.size() == 3);
    CHECK_THAT(devices[0].rejected, Contains("the driver reports an error") && Contains("CUDA_ERROR_UNKNOWN"));
    CHECK_THAT(devices[1].rejected, Contains("Prohibited") && Contains("nvidia-smi -i 1 -c DEFAULT"));
    CHECK(devices[2].rejected.empty());
    CHECK(devices[2].id == "cuda:2");
}

TEST_CASE("the default device is the first real GPU, CUDA's before Vulkan's", "[cuda][registry]") {
    Machine machine(13000, std::string("Closed,90,0;") + kH200);
    const Variable modules("HEADSCOPE_CUDA_MODULES", machine.file(""));
    CHECK(list_devices(environment_options())[0].id == "cuda:0");
    CHECK(list_devices(environment_options()).back().id == "cpu");
    machine.with("module12", kModule12);
    CHECK(default_device(list_devices(environment_options()), environment_options().settings) == "cuda:1");
    for (const char* wanted : {"", "cuda", "cuda:1"}) {
        INFO("\"" << wanted << "\"");
        CHECK_THAT(error_of([&] { open_device(wanted, environment_options()); }), Contains("asked for ordinal 1"));
    }
    for (const char* wanted : {"cuda:0", "cuda:7"}) {
        CHECK_THAT(error_of([&] { open_device(wanted, environment_options()); }),
                   Contains(std::string("no usable device \"") + wanted + "\"") &&
                       Contains("\n  cuda:0: rejected, its compute mode") && Contains("\n  cuda:1: NVIDIA H200") &&
                       Contains("\n  cpu: "));
    }
    CHECK_THAT(error_of([&] { open_device("cudas", environment_options()); }), Contains("unknown device \"cudas\""));
    const Variable device("HEADSCOPE_DEVICE", "cuda");
    CHECK(default_device(list_devices(environment_options()), environment_options().settings) == "cuda");
    CHECK_THAT(error_of([&] { open_device("", environment_options()); }), Contains("asked for ordinal 1"));
}

TEST_CASE("a software device is opened if named, and never by default", "[cuda][registry]") {
    Machine machine(13000, kH200);
    machine.with("emulated", "libheadscope_cuda_emulated.so");
    const Variable modules("HEADSCOPE_CUDA_MODULES", machine.file(""));
    CHECK(default_device(list_devices(environment_options()), environment_options().settings) != "cuda:0");
    CHECK(open_device("cuda", environment_options())->device().name == "a test's device");
    CHECK(open_device("", environment_options())->device().name != "a test's device");
}

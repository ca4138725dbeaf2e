// Every kernel that can be disabled is documented, and a word that names none is an error.
#include <catch2/catch.hpp>
#include <string>

#include "backends/cuda/kernel_switches.h"
#include "io/whole_file.h"
#include "machine.h"
#include "tests/house/files.h"

using namespace headscope;
using namespace headscope::cuda;
using headscope::cuda_tests::Machine;

namespace {

Settings disabling(const std::string& words) {
    Settings settings;
    settings.set(kDisableKernels, words);
    return settings;
}

std::string feature(const DeviceInfo& info, const std::string& title) {
    for (const auto& [name, value] : info.features) {
        if (name == title) {
            return value;
        }
    }
    return "";
}

}  // namespace

TEST_CASE("docs/environment.md has every kernel that can be disabled", "[cuda][switches]") {
    std::string rows = "| word | what |\n|---|---|\n";
    for (const KernelSwitch& each : kKernelSwitches) {
        rows += std::string("| `") + each.name + "` | " + each.meaning + " |\n";
    }
    INFO(rows);
    const std::string file = checkout_file("docs/environment.md");
    CHECK(read_whole_file(file, file).find(rows + "\n") != std::string::npos);
}

TEST_CASE("a word disables its kernel alone, and older code has none", "[cuda][switches]") {
    CHECK(DisabledKernels::from({}).allow(Kernel::Attention, 80));
    CHECK_FALSE(DisabledKernels::from({}).allow(Kernel::Attention, 75));
    CHECK_FALSE(DisabledKernels::from(disabling("attention")).allow(Kernel::Attention, 90));
    CHECK(DisabledKernels::from(disabling("attention")).allow(Kernel::AttentionBackward, 90));
    for (const char* wrong : {"attention,flash", "Attention", " attention", "attention,,"}) {
        INFO(wrong);
        CHECK_THROWS_WITH(DisabledKernels::from(disabling(wrong)),
                          Catch::Contains("HEADSCOPE_CUDA_DISABLE names \"") &&
                              Catch::Contains("expected words out of attention, attention_backward"));
    }
}

TEST_CASE("kernels are launched early only by new drivers and toolkits", "[cuda][switches]") {
    CHECK(DisabledKernels::from({}).allow(Kernel::DependentLaunch, 90, 12030));
    CHECK_FALSE(DisabledKernels::from({}).allow(Kernel::DependentLaunch, 90, 12020));
    CHECK_FALSE(DisabledKernels::from({}).allow(Kernel::DependentLaunch, 89, 13000));
    CHECK_FALSE(DisabledKernels::from(disabling("dependent_launch")).allow(Kernel::DependentLaunch, 90, 13000));
    const auto listed = [](int driver) {
        Machine machine(driver, cuda_tests::kH200);
        return feature(machine.with("module12", "libheadscope_cuda12.so").list().at(0), "dependent launch");
    };
    CHECK(listed(12030) == "yes");
    CHECK(listed(12020) == "no, CUDA 12.2");
}

TEST_CASE("a device tells which kernels are used", "[cuda][switches]") {
    const auto listed = [](const char* cards, const char* module) {
        return Machine(13000, cards).with(module, "libheadscope_cuda13.so").list().at(0);
    };
    CHECK(feature(listed(cuda_tests::kH200, "module13"), kKernelSwitches[0].title) == "yes");
    CHECK(feature(listed(cuda_tests::kH200, "ptx13"), kKernelSwitches[0].title) == "no, code of sm_75");
    CHECK(feature(listed(cuda_tests::kP100, "module12"), kKernelSwitches[0].title) == "no, code of sm_60");
    const Variable disabled("HEADSCOPE_CUDA_DISABLE", std::string("attention"));
    CHECK(feature(listed(cuda_tests::kH200, "module13"), kKernelSwitches[0].title) == "disabled");
    CHECK(feature(listed(cuda_tests::kH200, "module13"), kKernelSwitches[1].title) == "yes");
    const Variable wrong("HEADSCOPE_CUDA_DISABLE", std::string("flash"));
    CHECK_THAT(listed(cuda_tests::kH200, "module13").rejected, Catch::Contains("HEADSCOPE_CUDA_DISABLE names"));
}

TEST_CASE("a device tells which kernels its shared memory is too small for", "[cuda][switches]") {
    const auto use = [](const std::string& card, const char* word) {
        const DeviceInfo info = Machine(13000, card).with("module13", "libheadscope_cuda13.so").list().at(0);
        for (const KernelSwitch& each : kKernelSwitches) {
            if (std::string(each.name) == word) {
                return feature(info, each.title);
            }
        }
        return std::string("no such kernel");
    };
    const std::string in_part = "yes, where 99 KiB of shared memory are enough";
    CHECK(use("RTX 4090,89,24564,99", "attention") == in_part);
    CHECK(use("RTX 4090,89,24564,99", "attention_backward") == in_part);
    CHECK(use("RTX 4090,89,24564,99", "few_rows") == "yes");
    CHECK(use("A100,80,81920,163", "attention") == "yes");
    CHECK(use("A small one,90,8192,48", "long_attention") == "yes, where 48 KiB of shared memory are enough");
    CHECK(use("T4,75,15360,64", "attention") == "no, code of sm_75");
}

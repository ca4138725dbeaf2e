#include "registry/gpu_possible.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/io/temporary_folder.h"

using namespace headscope;
namespace fs = std::filesystem;

namespace {

// The root folder of a machine with a disk, a network card and no GPU.
struct Machine {
    Machine() {
        fs::create_directories(folder.file("dev/disk"));
        fs::create_directories(folder.file("sys/bus"));
        folder.write("dev/null", "");
        folder.write("dev/nvme0", "");
        add_pci("0000:00:01.0", "0x020000");
        add_pci("0000:00:02.0", "0x010802");
    }
    void add_pci(const std::string& slot, const std::string& pci_class) const {
        fs::create_directories(folder.file("sys/bus/pci/devices/" + slot));
        folder.write("sys/bus/pci/devices/" + slot + "/class", pci_class + "\n");
    }
    bool gpu(const Settings& settings = {}) const { return gpu_possible(settings, folder.file("")); }

    TemporaryFolder folder;
};

}  // namespace

TEST_CASE("no GPU is possible if the kernel shows none", "[registry]") {
    const Machine machine;
    CHECK_FALSE(machine.gpu());
    fs::remove_all(machine.folder.file("sys/bus/pci"));  // a board without PCI
    CHECK_FALSE(machine.gpu());
}

TEST_CASE("a driver's device file makes a GPU possible", "[registry]") {
    for (const char* name : {"dri", "nvidia0", "nvidiactl", "nvhost-gpu", "nvgpu", "nvmap", "dxg", "kfd", "kgsl-3d0",
                             "mali0", "pvr_sync"}) {
        const Machine machine;
        machine.folder.write(std::string("dev/") + name, "");
        INFO(name);
        CHECK(machine.gpu());
    }
}

TEST_CASE("a display controller or accelerator on PCI makes a GPU possible, with or without device files",
          "[registry]") {
    for (const char* pci_class : {"0x030000", "0x030200", "0x038000", "0x120000"}) {
        const Machine machine;
        machine.add_pci("0000:01:00.0", pci_class);
        INFO(pci_class);
        CHECK(machine.gpu());
    }
}

TEST_CASE("a GPU is possible if the system cannot be inspected", "[registry]") {
    const Machine no_sys;
    fs::remove_all(no_sys.folder.file("sys"));
    CHECK(no_sys.gpu());
    const Machine no_dev;
    fs::remove_all(no_dev.folder.file("dev"));
    CHECK(no_dev.gpu());
    const Machine no_class;
    fs::create_directories(no_class.folder.file("sys/bus/pci/devices/0000:01:00.0"));
    CHECK(no_class.gpu());
}

TEST_CASE("a driver named by the user makes a GPU possible", "[registry]") {
    const Machine machine;
    for (const char* name : {"HEADSCOPE_CUDA_DRIVER", "VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"}) {
        INFO(name);
        CHECK(machine.gpu({{{name, "/opt/driver.json"}}}));
        CHECK_FALSE(machine.gpu({{{name, ""}}}));
    }
}

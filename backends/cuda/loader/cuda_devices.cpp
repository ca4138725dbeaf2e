#include "backends/cuda/loader/cuda_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>

#include "backends/cuda/kernel_switches.h"
#include "backends/cuda/loader/driver.h"
#include "backends/cuda/loader/modules.h"
#include "support/check.h"
#include "support/module_files.h"

namespace headscope {

namespace cuda {

namespace {

// The state of the search. Modules are opened only while some card lacks machine code: loading the libraries of a
// second toolkit takes time.
struct Found {
    std::vector<LoadedModule> loaded;
    std::vector<ModuleFacts> accepted;   // of those of `loaded` that were accepted
    std::vector<const Module*> modules;  // of `accepted`
};

bool usable(const Card& card) {
    return card.failure.empty() && !card.prohibited;
}

bool all_served(const Driver& driver, const Found& found) {
    return std::all_of(driver.cards().begin(), driver.cards().end(), [&](const Card& card) {
        const Choice choice = choose(found.accepted, driver.version(), card.sm);
        return !usable(card) || (choice.module >= 0 && !choice.from_ptx);
    });
}

Found load_modules(const Places& places, const Driver& driver) {
    Found found;
    for (const std::string& file : module_files(places.folders)) {
        if (all_served(driver, found)) {
            break;
        }
        const LoadedModule& module = found.loaded.emplace_back(load_module(file, places.contract));
        if (module.module != nullptr) {
            found.accepted.push_back(module.facts);
            found.modules.push_back(module.module);
        }
    }
    return found;
}

std::string no_module(const Places& places) {
    std::string folders;
    for (const std::string& folder : places.folders) {
        std::error_code ignored;
        folders += (folders.empty() ? "" : " and ") + folder +
                   (std::filesystem::is_directory(folder, ignored) ? "" : " (no such folder)");
    }
    return fmt::format(
        "no module with the CUDA backend (libheadscope_cuda12.so, libheadscope_cuda13.so) in {}: "
        "build where a CUDA toolkit is installed, or name the folder in HEADSCOPE_CUDA_MODULES",
        folders);
}

std::string reasons(const Found& found, const Choice& choice, const Places& places) {
    std::string text;
    const auto add = [&text](const std::string& reason) {
        text += reason.empty() || text.empty() ? reason : "; " + reason;
    };
    for (const LoadedModule& module : found.loaded) {
        add(module.refused);
    }
    for (const std::string& refused : choice.refused) {
        add(refused);
    }
    return text.empty() ? no_module(places) : text;
}

DeviceInfo describe(const Card& card, std::size_t ordinal, int driver_version) {
    constexpr double kMebi = 1024.0 * 1024.0;
    constexpr int kVolta = 70;
    constexpr int kAmpere = 80;
    const auto yes_if = [](bool condition) { return condition ? "yes" : "no"; };
    DeviceInfo info;
    info.id = fmt::format("cuda:{}", ordinal);
    info.backend = "cuda";
    info.name = card.name;
    info.driver = fmt::format("CUDA {} driver", version_text(driver_version));
    info.gpu = true;
    info.memory_bytes = card.memory_bytes;
    if (!card.failure.empty()) {
        info.rejected = "the driver reports an error," + card.failure + ": nvidia-smi may say more";
        return info;
    }
    info.limits = {
        {"compute capability", fmt::format("{}.{}", card.sm / kSmOfMajor, card.sm % kSmOfMajor)},
        {"multiprocessors", fmt::format("{}", card.multiprocessors)},
        {"shared memory", fmt::format("{} KiB", card.shared_bytes >> 10)},
        {"L2 cache", fmt::format("{:g} MiB", card.l2_bytes / kMebi)},
    };
    info.features = {
        {"F16 matrix cores", yes_if(card.sm >= kVolta)},
        {"BF16 and TF32 matrix cores", yes_if(card.sm >= kAmpere)},
        {"ECC memory", yes_if(card.ecc)},
    };
    if (card.prohibited) {
        info.rejected = fmt::format(
            "its compute mode is Prohibited: nvidia-smi -i {} -c DEFAULT, as root, allows it again", ordinal);
    }
    return info;
}

// "cuda:0 (NVIDIA H200)"
std::string titled(const DeviceInfo& info) {
    return info.name.empty() ? info.id : fmt::format("{} ({})", info.id, info.name);
}

// The newest architecture of the module's code that the card runs.
int compiled_for(const ModuleFacts& module, int sm, bool from_ptx) {
    int newest = from_ptx ? module.ptx : 0;
    for (const int built : module.architectures) {
        newest = !from_ptx && built <= sm ? std::max(newest, built) : newest;
    }
    return newest;
}

// Whether code compiled for sm_`compiled` uses the kernel on this card. `cuda` is the older version of driver and
// toolkit.
std::string use_of(const KernelSwitch& kernel, int compiled, int cuda, const Card& card) {
    if (compiled < kernel.least_sm) {
        return fmt::format("no, code of sm_{}", compiled);
    }
    if (cuda < kernel.least_cuda) {
        return fmt::format("no, CUDA {}", version_text(cuda));
    }
    return kernel.shared_bytes <= card.shared_bytes
               ? "yes"
               : fmt::format("yes, where {} KiB of shared memory are enough", card.shared_bytes >> 10);
}

void describe_kernels(DeviceInfo& info, int compiled, int cuda, const Card& card, const DisabledKernels& disabled) {
    for (std::size_t i = 0; i < kKernelSwitches.size(); ++i) {
        const KernelSwitch& each = kKernelSwitches[i];
        info.features.emplace_back(each.title, disabled.has(i) ? "disabled" : use_of(each, compiled, cuda, card));
    }
}

void describe_module(DeviceInfo& info, const ModuleFacts& module, bool from_ptx) {
    info.driver += fmt::format(", module of CUDA {}", version_text(module.toolkit));
    info.gpu = !module.emulated;
    info.software = module.emulated;
    info.features.emplace_back("machine code", from_ptx ? fmt::format("no, PTX of sm_{}", module.ptx) : "yes");
}

}  // namespace

Places Places::from(const Settings& settings) {
    const std::string driver = settings.get("HEADSCOPE_CUDA_DRIVER");
    return {driver.empty() ? "libcuda.so.1" : driver, module_folders(settings.get("HEADSCOPE_CUDA_MODULES")),
            HEADSCOPE_CUDA_CONTRACT};
}

}  // namespace cuda

CudaDevices::CudaDevices(const OpenOptions& options) : CudaDevices(options, cuda::Places::from(options.settings)) {}

CudaDevices::CudaDevices(const OpenOptions& options, const cuda::Places& places) : options_(options) {
    try {
        find(places);
    } catch (const Error& error) {
        DeviceInfo none;
        none.id = none.backend = "cuda";
        none.rejected = error.what();
        list_.assign(1, none);
        modules_.assign(1, nullptr);
    }
}

void CudaDevices::find(const cuda::Places& places) {
    const cuda::DisabledKernels disabled = cuda::DisabledKernels::from(options_.settings);
    const cuda::Driver driver(places.driver, options_.settings);
    const cuda::Found found = cuda::load_modules(places, driver);
    for (const cuda::Card& card : driver.cards()) {
        DeviceInfo& info = list_.emplace_back(cuda::describe(card, list_.size(), driver.version()));
        modules_.push_back(nullptr);
        if (!info.rejected.empty()) {
            continue;
        }
        const cuda::Choice choice = cuda::choose(found.accepted, driver.version(), card.sm);
        if (choice.module < 0) {
            info.rejected = cuda::reasons(found, choice, places);
            continue;
        }
        const auto index = static_cast<std::size_t>(choice.module);
        const cuda::ModuleFacts& module = found.accepted[index];
        cuda::describe_module(info, module, choice.from_ptx);
        cuda::describe_kernels(info, cuda::compiled_for(module, card.sm, choice.from_ptx),
                               std::min(driver.version(), module.toolkit), card, disabled);
        modules_.back() = found.modules[index];
    }
}

std::unique_ptr<Backend> CudaDevices::open(int index) const {
    if (static_cast<std::size_t>(index) >= list_.size()) {  // a negative one wraps around
        throw Error(fmt::format("unknown device cuda:{}: found {} CUDA device(s) (headscope devices lists them)", index,
                                list_.size()));
    }
    const DeviceInfo& info = list_[static_cast<std::size_t>(index)];
    if (!info.rejected.empty()) {
        throw Error(fmt::format("{} cannot be used: {}", cuda::titled(info), info.rejected));
    }
    try {
        std::unique_ptr<Backend> backend(modules_[static_cast<std::size_t>(index)]->open(index, options_));
        HEADSCOPE_CHECK(backend != nullptr, "the module opened " + info.id + " and gave no backend");
        return backend;
    } catch (const Error& error) {
        throw Error(fmt::format("{} cannot be opened: {}", cuda::titled(info), error.what()));
    }
}

}  // namespace headscope

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "backends/cuda/loader/driver.h"
#include "backends/cuda/loader/modules.h"

namespace headscope::cuda {

namespace {

constexpr int kThousand = 1000;     // 12040 is CUDA 12.4
constexpr int kOldest = 60;         // the oldest supported: the P100
constexpr int kFirstOfCuda13 = 75;  // CUDA 13 does not compile for older ones

enum class Fit { None, Ptx, MachineCode };

Fit fit_of(const ModuleFacts& module, int driver_version, int sm) {
    const bool code = std::any_of(module.architectures.begin(), module.architectures.end(), [sm](int built) {
        return built / kSmOfMajor == sm / kSmOfMajor && built % kSmOfMajor <= sm % kSmOfMajor;
    });
    if (module.toolkit / kThousand > driver_version / kThousand) {
        return Fit::None;
    }
    if (code) {
        return Fit::MachineCode;
    }
    const bool ptx = module.ptx != 0 && module.ptx <= sm && module.toolkit <= driver_version;
    return ptx ? Fit::Ptx : Fit::None;
}

// For a module that no driver runs on this card.
std::string card_refusal(const ModuleFacts& module, int sm) {
    const std::vector<int>& built = module.architectures;
    if (built.empty()) {
        return module.ptx == 0
                   ? fmt::format("{} has no code for any card: install it again", module.name)
                   : fmt::format("{} has PTX for sm_{} and up, this card is sm_{}: build it for this card, too",
                                 module.name, module.ptx, sm);
    }
    if (sm < kOldest) {
        return fmt::format("{} has code for sm_{} and up, this card is sm_{}: --device vulkan may run on it",
                           module.name, built.front(), sm);
    }
    if (sm < built.front()) {
        const bool older_helps = sm < kFirstOfCuda13 && module.toolkit / kThousand > 12;
        return fmt::format("{} has code for sm_{} and up, this card is sm_{}: {}", module.name, built.front(), sm,
                           older_helps ? "install the module built with CUDA 12" : "build it for this card, too");
    }
    return fmt::format(
        "{} has code for sm_{} to sm_{} and no PTX that this card, sm_{}, could run: install a module built "
        "for it",
        module.name, built.front(), built.back(), sm);
}

// For a module that the card runs with a newer driver.
std::string driver_refusal(const ModuleFacts& module, int driver_version, int sm) {
    const int major = module.toolkit / kThousand;
    const int found = driver_version / kThousand;
    if (major > found) {
        return fmt::format("{} needs a driver for CUDA {}.0 or newer, this one is for {}: update the driver{}",
                           module.name, major, version_text(driver_version),
                           found < 12 ? "" : fmt::format(", or install the module built with CUDA {}", found));
    }
    return fmt::format(
        "{} has no machine code for this card (sm_{}), and compiling its PTX needs a driver for CUDA {} or "
        "newer, this one is for {}: update the driver",
        module.name, sm, version_text(module.toolkit), version_text(driver_version));
}

}  // namespace

Choice choose(const std::vector<ModuleFacts>& modules, int driver_version, int sm) {
    using Rank = std::tuple<bool, Fit, int>;
    Rank highest;
    Choice choice;
    for (std::size_t index = 0; index < modules.size(); ++index) {
        const ModuleFacts& module = modules[index];
        const Fit fit = fit_of(module, driver_version, sm);
        std::string& refused = choice.refused.emplace_back();
        if (fit == Fit::None) {
            refused = fit_of(module, std::numeric_limits<int>::max(), sm) == Fit::None
                          ? card_refusal(module, sm)
                          : driver_refusal(module, driver_version, sm);
            continue;
        }
        const Rank rank(!module.emulated, fit, module.toolkit);
        if (choice.module < 0 || rank > highest) {
            highest = rank;
            choice.module = static_cast<int>(index);
            choice.from_ptx = fit == Fit::Ptx;
        }
    }
    return choice;
}

}  // namespace headscope::cuda

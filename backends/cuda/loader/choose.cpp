#include <fmt/format.h>

#include <algorithm>

#include "backends/cuda/loader/driver.h"
#include "backends/cuda/loader/modules.h"
#include "support/check.h"

namespace headscope::cuda {

namespace {

constexpr int kTen = 10;            // sm_90 is compute capability 9.0
constexpr int kThousand = 1000;     // 12040 is CUDA 12.4
constexpr int kFirstOfCuda13 = 75;  // CUDA 13 compiles for nothing older

enum class Fit { None, Ptx, MachineCode };

Fit fit_of(const ModuleFacts& module, int driver_version, int sm) {
    const bool code = std::any_of(module.architectures.begin(), module.architectures.end(),
                                  [sm](int built) { return built / kTen == sm / kTen && built % kTen <= sm % kTen; });
    if (module.toolkit / kThousand > driver_version / kThousand) {
        return Fit::None;
    }
    if (code) {
        return Fit::MachineCode;
    }
    const bool ptx = module.ptx != 0 && module.ptx <= sm && module.toolkit <= driver_version;
    return ptx ? Fit::Ptx : Fit::None;
}

std::string driver_refusal(const ModuleFacts& module, int driver_version) {
    const int major = module.toolkit / kThousand;
    return fmt::format(
        "{} needs a driver for CUDA {}.0 or newer, this one is for {}: update the driver, or install the "
        "module built with CUDA {}",
        module.name, major, version_text(driver_version), driver_version / kThousand);
}

// Of a module that the driver can load and the card cannot run.
std::string card_refusal(const ModuleFacts& module, int driver_version, int sm) {
    const std::vector<int>& built = module.architectures;
    if (module.ptx != 0 && module.ptx <= sm) {
        return fmt::format(
            "{} has no machine code for this card (sm_{}), and compiling its PTX needs a driver for CUDA {} "
            "or newer, this one is for {}: update the driver",
            module.name, sm, version_text(module.toolkit), version_text(driver_version));
    }
    if (built.empty()) {
        return module.ptx == 0
                   ? fmt::format("{} has no code for any card: install it again", module.name)
                   : fmt::format("{} has PTX for sm_{} and up, this card is sm_{}: build it for this card, too",
                                 module.name, module.ptx, sm);
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

}  // namespace

Choice choose(const std::vector<ModuleFacts>& modules, int driver_version, int sm) {
    Choice choice;
    for (std::size_t index = 0; index < modules.size(); ++index) {
        const ModuleFacts& module = modules[index];
        const Fit fit = fit_of(module, driver_version, sm);
        std::string& refused = choice.refused.emplace_back();
        if (fit == Fit::None) {
            refused = module.toolkit / kThousand > driver_version / kThousand
                          ? driver_refusal(module, driver_version)
                          : card_refusal(module, driver_version, sm);
            continue;
        }
        const auto rank = [](const ModuleFacts& of) { return std::pair(!of.emulated, of.toolkit); };
        if (choice.module < 0 || rank(module) > rank(modules[static_cast<std::size_t>(choice.module)])) {
            choice.module = static_cast<int>(index);
            choice.from_ptx = fit == Fit::Ptx;
        }
    }
    return choice;
}

}  // namespace headscope::cuda

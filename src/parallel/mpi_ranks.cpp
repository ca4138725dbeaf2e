#include "parallel/mpi_ranks.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "parallel/mpi_launcher.h"
#include "support/check.h"
#include "support/module_files.h"

namespace headscope {
namespace {

using Abi = MpiLauncher::Abi;

struct Names {
    const char* library;
    const char* module;
    const char* package;  // of Debian and Ubuntu
};

const Names& names_of(Abi abi) {
    static constexpr Names kOpenMpi{"Open MPI", "libheadscope_mpi_openmpi.so", "libopenmpi-dev"};
    static constexpr Names kMpich{"MPICH", "libheadscope_mpi_mpich.so", "libmpich-dev"};
    return abi == Abi::OpenMpi ? kOpenMpi : kMpich;
}

Abi other_than(Abi abi) {
    return abi == Abi::OpenMpi ? Abi::Mpich : Abi::OpenMpi;
}

// The module's file, empty if there is none.
std::string file_of(Abi abi, const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
        const std::filesystem::path file = std::filesystem::path(folder) / names_of(abi).module;
        std::error_code ignored;
        if (std::filesystem::exists(file, ignored)) {
            return file.string();
        }
    }
    return "";
}

std::string opening(const MpiLauncher& launcher) {
    return fmt::format("{} started this process ({})", launcher.name, launcher.sign);
}

[[noreturn]] void no_module(const MpiLauncher& launcher, const std::vector<std::string>& folders) {
    const Names& wanted = names_of(launcher.first);
    const Names& other = names_of(other_than(launcher.first));
    const bool has_other = !file_of(other_than(launcher.first), folders).empty();
    throw Error(fmt::format(
        "{}, and the module for {} is missing: {}{} in {}. {}nstall {}{} (or your system's package of the same), then "
        "configure and build Headscope again; or name the modules' folder in HEADSCOPE_MPI_MODULES",
        opening(launcher), wanted.library, wanted.module, launcher.others ? fmt::format(" or {}", other.module) : "",
        fmt::join(folders, " or "),
        has_other ? fmt::format("There is {}: start with the mpirun of {}, or i", other.module, other.library) : "I",
        wanted.package, launcher.others ? fmt::format(" or {}", other.package) : ""));
}

// Opened for good: MPI cannot be started again.
const mpi::Module& open_module(const std::string& file) {
    if (!is_whole_library(file)) {
        throw Error(fmt::format("{} cannot be read or is truncated: build or install it again", file));
    }
    void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const std::string words = ::dlerror();
        throw Error(fmt::format("{} cannot be loaded ({}): install the MPI that it was built with, or build it again",
                                file, words));
    }
    const auto entry = reinterpret_cast<mpi::ModuleEntry>(::dlsym(handle, mpi::kModuleEntry));
    if (entry == nullptr) {
        throw Error(
            fmt::format("{} is not an MPI module of Headscope (it has no {}): remove it", file, mpi::kModuleEntry));
    }
    const mpi::Module& module = *entry();
    if (module.version != mpi::kModuleVersion) {
        throw Error(
            fmt::format("{} does not belong to this program (interface {}, the program has {}): build or install "
                        "both together",
                        file, module.version, mpi::kModuleVersion));
    }
    return module;
}

const mpi::Module& module_for(const MpiLauncher& launcher, const Settings& settings) {
    const std::vector<std::string> folders = module_folders(settings.get("HEADSCOPE_MPI_MODULES"));
    std::string file = file_of(launcher.first, folders);
    if (file.empty() && launcher.others) {
        file = file_of(other_than(launcher.first), folders);
    }
    if (file.empty()) {
        no_module(launcher, folders);
    }
    return open_module(file);
}

[[noreturn]] void alone_of_many(const MpiLauncher& launcher, const mpi::Module& module, const mpi::Place& place) {
    const std::string others = launcher.ranks > 0 ? fmt::format("one of {} ranks", launcher.ranks) : "a rank";
    if (launcher.name == "srun") {
        throw Error(
            fmt::format("srun started this process as {} ({}), but {} finds no other: srun did not tell it how to "
                        "meet them. Use `srun --mpi=pmix` (Open MPI and MPICH) or `srun --mpi=pmi2` (MPICH); "
                        "`srun --mpi=list` shows which of them this Slurm has",
                        others, launcher.sign, place.library));
    }
    throw Error(
        fmt::format("{} started this process as {} ({}), but {} finds no other: start with the mpirun of the "
                    "{} that the module is built with, or build the module with this mpirun's",
                    launcher.name, others, launcher.sign, place.library, module.name));
}

}  // namespace

std::unique_ptr<MpiCommunicator> mpi_ranks(const Settings& settings, double patience_seconds,
                                           const MpiCommunicator::Report& report) {
    return mpi_ranks(settings, patience_seconds, report, MpiCommunicator::kPartBytes);
}

std::unique_ptr<MpiCommunicator> mpi_ranks(const Settings& settings, double patience_seconds,
                                           const MpiCommunicator::Report& report, std::size_t part_bytes) {
    const std::optional<MpiLauncher> launcher = mpi_launcher(settings);
    if (!launcher) {
        return nullptr;
    }
    const mpi::Module& module = module_for(*launcher, settings);
    mpi::Place place;
    check_mpi(module.start(&place));
    if (place.size == 1) {
        module.end();
        if (launcher->ranks > 1) {
            alone_of_many(*launcher, module, place);
        }
        return nullptr;
    }
    auto ranks = std::make_unique<MpiCommunicator>(module, place, std::chrono::duration<double>(patience_seconds),
                                                   report, part_bytes);
    ranks->greet();
    ranks->introduce(fmt::format("host {}", place.host));
    return ranks;
}

}  // namespace headscope

#include "parallel/mpi_launcher.h"

#include <charconv>

#include <fmt/format.h>

namespace headscope {
namespace {

// A whole number, 0 if there is none.
int number(const Settings& settings, const std::string& name) {
    const std::string text = settings.get(name);
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string sign(const Settings& settings, const std::string& name) {
    return fmt::format("{}={}", name, settings.get(name));
}

bool is_step_of_slurm(const Settings& settings) {
    return settings.has("SLURM_PROCID") && settings.has("SLURM_STEP_ID");
}

const char* variable_of_tasks(const Settings& settings) {
    return settings.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
}

std::optional<MpiLauncher> found(const Settings& settings) {
    using Abi = MpiLauncher::Abi;
    const int tasks = is_step_of_slurm(settings) ? number(settings, variable_of_tasks(settings)) : 0;
    if (settings.has("OMPI_COMM_WORLD_SIZE")) {
        return MpiLauncher{"Open MPI's mpirun", sign(settings, "OMPI_COMM_WORLD_SIZE"),
                           number(settings, "OMPI_COMM_WORLD_SIZE"), Abi::OpenMpi, false};
    }
    const bool of_mpich = settings.has("MPI_LOCALRANKID");
    for (const char* name : {"PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID"}) {
        if (settings.has(name)) {
            const bool by_srun = tasks > 0 && !of_mpich;
            const int size = settings.has("PMI_SIZE") ? number(settings, "PMI_SIZE") : tasks;
            return MpiLauncher{by_srun ? "srun" : "MPICH's mpirun", sign(settings, name), size, Abi::Mpich, by_srun};
        }
    }
    if (settings.has("PMIX_RANK")) {
        return MpiLauncher{tasks > 0 ? "srun" : "a launcher with PMIx", sign(settings, "PMIX_RANK"), tasks,
                           Abi::OpenMpi, true};
    }
    if (tasks > 0) {
        return MpiLauncher{"srun", sign(settings, variable_of_tasks(settings)), tasks, Abi::OpenMpi, true};
    }
    return std::nullopt;
}

}  // namespace

std::optional<MpiLauncher> mpi_launcher(const Settings& settings) {
    std::optional<MpiLauncher> launcher = found(settings);
    if (!launcher || launcher->ranks == 1) {
        return std::nullopt;
    }
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
        if (settings.has(name)) {
            launcher->rank = number(settings, name);
            break;
        }
    }
    return launcher;
}

}  // namespace headscope

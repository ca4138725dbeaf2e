// Which launcher started a process, and what is said if its module is missing or does not fit.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "parallel/mpi_launcher.h"
#include "parallel/mpi_ranks.h"
#include "support/check.h"

using namespace headscope;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

class Folder {
public:
    Folder() { fs::create_directories(path_); }
    ~Folder() { fs::remove_all(path_); }
    std::string path() const { return path_.string(); }
    void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
    void copy(const std::string& file, const std::string& name) const { fs::copy_file(file, path_ / name); }

private:
    std::string made_ = (fs::temp_directory_path() / "headscope-mpi-XXXXXX").string();
    fs::path path_ = ::mkdtemp(made_.data());
};

std::string error_of(const Folder& folder, Settings settings) {
    settings.set("HEADSCOPE_MPI_MODULES", folder.path());
    try {
        mpi_ranks(settings, 10, [](const std::string&) {});
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

Settings with(const std::map<std::string, std::string>& values) {
    return values;
}

const Settings kOpenMpi = with({{"OMPI_COMM_WORLD_SIZE", "4"}});
const Settings kMpich = with({{"PMI_SIZE", "4"}, {"PMI_RANK", "1"}, {"MPI_LOCALRANKID", "1"}});
const Settings kSrun = with({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "4"}});

}  // namespace

TEST_CASE("a launcher is known by its variables", "[mpi][launcher]") {
    using Abi = MpiLauncher::Abi;
    CHECK_FALSE(mpi_launcher({}));
    CHECK(mpi_launcher(kOpenMpi)->name == "Open MPI's mpirun");
    CHECK(mpi_launcher(kOpenMpi)->sign == "OMPI_COMM_WORLD_SIZE=4");
    CHECK(mpi_launcher(kOpenMpi)->ranks == 4);
    CHECK(mpi_launcher(kOpenMpi)->first == Abi::OpenMpi);
    CHECK_FALSE(mpi_launcher(kOpenMpi)->others);
    CHECK(mpi_launcher(kMpich)->name == "MPICH's mpirun");
    CHECK(mpi_launcher(kMpich)->first == Abi::Mpich);
    CHECK_FALSE(mpi_launcher(kMpich)->others);
    CHECK(mpi_launcher(kSrun)->name == "srun");
    CHECK(mpi_launcher(kSrun)->ranks == 4);
    CHECK(mpi_launcher(kSrun)->others);
    // Both mpiruns may run within a job of Slurm, and srun may speak PMI.
    Settings both = kSrun;
    both.set("OMPI_COMM_WORLD_SIZE", "2");
    CHECK(mpi_launcher(both)->ranks == 2);
    Settings pmi = kSrun;
    pmi.set("PMI_RANK", "3");
    CHECK(mpi_launcher(pmi)->name == "srun");
    CHECK(mpi_launcher(pmi)->first == Abi::Mpich);
    CHECK(mpi_launcher(pmi)->ranks == 4);
    pmi.set("MPI_LOCALRANKID", "3");
    CHECK(mpi_launcher(pmi)->name == "MPICH's mpirun");
    CHECK(mpi_launcher(with({{"PMIX_RANK", "0"}}))->ranks == 0);
    CHECK(mpi_launcher(with({{"PMIX_RANK", "0"}}))->others);
}

TEST_CASE("a process knows its rank before MPI starts", "[mpi][launcher]") {
    CHECK(mpi_launcher(with({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}}))->rank == 3);
    CHECK(mpi_launcher(kMpich)->rank == 1);
    CHECK(mpi_launcher(with({{"PMIX_RANK", "2"}}))->rank == 2);
    CHECK(mpi_launcher(with({{"SLURM_PROCID", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "4"}}))->rank == 1);
}

TEST_CASE("a process alone needs no MPI", "[mpi][launcher]") {
    CHECK_FALSE(mpi_launcher({}));
    CHECK_FALSE(mpi_launcher(with({{"OMPI_COMM_WORLD_SIZE", "1"}})));
    CHECK_FALSE(mpi_launcher(with({{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}})));
    CHECK(mpi_ranks({}, 10, [](const std::string&) {}) == nullptr);
    // A step of one task within a job of several, and a batch script, which is in no step.
    Settings step = kSrun;
    step.set("SLURM_STEP_NUM_TASKS", "1");
    CHECK_FALSE(mpi_launcher(step));
    CHECK_FALSE(mpi_launcher(with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}})));
    CHECK(mpi_launcher(kSrun));
}

TEST_CASE("a missing module is named with what to install", "[mpi][launcher]") {
    const Folder folder;
    CHECK(error_of(folder, kOpenMpi) ==
          "Open MPI's mpirun started this process (OMPI_COMM_WORLD_SIZE=4), and the module for Open MPI is missing: "
          "libheadscope_mpi_openmpi.so in " +
              folder.path() +
              ". Install libopenmpi-dev (or your system's package of the same), then configure and build Headscope "
              "again; "
              "or name the modules' folder in HEADSCOPE_MPI_MODULES");
    CHECK_THAT(error_of(folder, kSrun), Contains("libheadscope_mpi_openmpi.so or libheadscope_mpi_mpich.so"));
    CHECK_THAT(error_of(folder, kSrun), Contains("Install libopenmpi-dev or libmpich-dev"));
    folder.write("libheadscope_mpi_openmpi.so", "");
    const std::string error = error_of(folder, kMpich);
    CHECK_THAT(error, Contains("MPICH's mpirun started this process (PMI_SIZE=4)"));
    CHECK_THAT(error, Contains("There is libheadscope_mpi_openmpi.so: start with the mpirun of Open MPI, or install "
                               "libmpich-dev"));
}

TEST_CASE("a module that cannot be used is refused", "[mpi][launcher]") {
    const Folder folder;
    folder.write("libheadscope_mpi_openmpi.so", "no library");
    CHECK_THAT(error_of(folder, kOpenMpi), Contains("libheadscope_mpi_openmpi.so cannot be read or is truncated"));
    folder.copy(HEADSCOPE_FAKE_MPI_OTHER, "libheadscope_mpi_mpich.so");
    CHECK_THAT(error_of(folder, kMpich), Contains("does not belong to this program (interface 0, the program has 1)"));
    const Folder other;
    other.copy(HEADSCOPE_FAKE_MPI_EMPTY, "libheadscope_mpi_openmpi.so");
    CHECK_THAT(error_of(other, kOpenMpi),
               Contains("is not an MPI module of Headscope (it has no headscope_mpi_module)"));
}

TEST_CASE("ranks that do not find each other are told why", "[mpi][launcher]") {
    const Folder folder;
    folder.copy(HEADSCOPE_FAKE_MPI_ALONE, "libheadscope_mpi_mpich.so");
    const std::string error = error_of(folder, kSrun);
    CHECK_THAT(error,
               Contains("srun started this process as one of 4 ranks (SLURM_NTASKS=4), but Fake MPI 1.0 finds no "
                        "other"));
    CHECK_THAT(error, Contains("`srun --mpi=pmix`"));
    CHECK_THAT(error, Contains("`srun --mpi=pmi2`"));
    CHECK_THAT(error_of(folder, kMpich), Contains("start with the mpirun of the MPICH that the module is built with"));
    // A launcher that does not tell the number may have started one.
    CHECK(error_of(folder, with({{"PMIX_RANK", "0"}})) == "no error");
}

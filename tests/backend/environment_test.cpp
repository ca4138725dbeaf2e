#include "options/environment.h"

#include <catch2/catch.hpp>

using namespace headscope;

TEST_CASE("only known variables are read from the environment", "[environment]") {
    const char* const environment[] = {"PATH=/bin", "HEADSCOPE_TRACE=a=b", "HEADSCOPE_X=1",
                                       "HOME=",     "HEADSCOPE_MODEL",     nullptr};
    const Settings settings = read_environment(environment);
    CHECK(settings.all() == std::map<std::string, std::string>{{"HEADSCOPE_TRACE", "a=b"}, {"HOME", ""}});
    CHECK(read_environment(nullptr).all().empty());
}

TEST_CASE("a misspelled variable is recognized, an unrelated one is not", "[environment]") {
    const char* const environment[] = {"HEADSCOPE_THREAD=2", "HEADSCOPE_SOMETHING=1", "HEADSCOPE_THREADS=2", "HOMES=a",
                                       nullptr};
    CHECK(misspelt_variables(environment) ==
          std::vector<std::string>{"unknown environment variable HEADSCOPE_THREAD; did you mean HEADSCOPE_THREADS?"});
}

TEST_CASE("the variables of MPI's launchers reach the library", "[environment]") {
    const char* const environment[] = {"OMPI_COMM_WORLD_SIZE=4",
                                       "PMI_SIZE=2",
                                       "PMI_RANK=1",
                                       "PMIX_RANK=1",
                                       "MPI_LOCALRANKID=0",
                                       "SLURM_NTASKS=4",
                                       "SLURM_PROCID=1",
                                       "SLURM_STEP_ID=0",
                                       "SLURM_STEP_NUM_TASKS=4",
                                       "HEADSCOPE_MPI_MODULES=",
                                       nullptr};
    CHECK(read_environment(environment).all().size() == std::size(environment) - 1);
}

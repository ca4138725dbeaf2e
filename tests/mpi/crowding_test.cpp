// Warnings of ranks that share processors.
#include "parallel/crowding.h"

#include <catch2/catch.hpp>
#include <thread>

#include "parallel/local_communicator.h"

using namespace headscope;
using Lines = std::vector<std::string>;

namespace {

RankSeat seat(const std::string& host, const std::string& processors, int threads, bool chosen = false) {
    return {.host = host, .on_cpu = true, .threads = threads, .threads_chosen = chosen, .processors = processors};
}

}  // namespace

TEST_CASE("ranks of one host that use all its processors each are told so", "[mpi][crowding]") {
    CHECK(crowding({seat("a", "1111", 4), seat("a", "1111", 4), seat("b", "1111", 4)}) ==
          Lines{"2 ranks on host a compute with 8 threads on 4 processors: set HEADSCOPE_THREADS=2"});
    CHECK(crowding({seat("a", "1111", 2, true), seat("a", "1111", 2, true)}).empty());
    CHECK(
        crowding({seat("a", "11", 1, true), seat("a", "11", 1, true), seat("a", "11", 1, true)}) ==
        Lines{
            "3 ranks on host a compute with 3 threads on 2 processors: set HEADSCOPE_THREADS=1, or start fewer ranks"});
}

TEST_CASE("ranks that mpirun binds to one processor each are told how to get more", "[mpi][crowding]") {
    CHECK(
        crowding({seat("a", "1000", 1), seat("a", "0100", 1)}) ==
        Lines{"2 ranks on host a use 2 of its 4 processors, since each is bound to one: pass --bind-to none to mpirun, "
              "or --cpus-per-task to srun"});
    CHECK(crowding({seat("a", "1000", 4, true)}) ==
          Lines{"1 rank on host a computes with 4 threads, but may use 1 of its 4 processors: pass --bind-to none to "
                "mpirun, or --cpus-per-task to srun, or lower HEADSCOPE_THREADS"});
    CHECK(crowding({seat("a", "10", 1), seat("a", "01", 1)}).empty());      // one for each is all there is
    CHECK(crowding({seat("a", "1100", 2), seat("a", "0011", 2)}).empty());  // halves of the host
}

TEST_CASE("a container's quota counts, and ranks on GPUs do not", "[mpi][crowding]") {
    RankSeat limited = seat("a", "11111111", 2);
    limited.quota = 2;
    CHECK(crowding({limited, limited}) ==
          Lines{"2 ranks on host a compute with 4 threads on 2 processors: set HEADSCOPE_THREADS=1"});
    limited.on_cpu = false;
    CHECK(crowding({limited, limited}).empty());
}

TEST_CASE("ranks that a command started itself are not told of launchers", "[mpi][crowding]") {
    CHECK(crowding({seat("", "11", 4, true), seat("", "11", 4, true)}) ==
          Lines{"2 ranks compute with 8 threads on 2 processors: set HEADSCOPE_THREADS=1"});
    CHECK(crowding({seat("", "1000", 1), seat("", "0100", 1)}).empty());
}

TEST_CASE("ranks on one GPU are told so, once", "[mpi][crowding]") {
    const RankSeat first{.host = "a", .device = "cuda:0"};
    CHECK(crowding({first, first, first}) == Lines{"ranks 0 and 1 share one device (cuda:0 on host a): they take "
                                                   "turns, and each needs its own memory there"});
    CHECK(crowding({first, {.host = "a", .device = "cuda:1"}, {.host = "b", .device = "cuda:0"}}).empty());
    CHECK(crowding({{.device = "vulkan:0"}, {.device = "vulkan:0"}})
              .front()
              .starts_with("ranks 0 and 1 share one device (vulkan:0): "));
    Settings slurm;
    slurm.set("SLURM_STEP_ID", "0");
    CHECK(seat_here("a", "cuda:0", {}).device == "cuda:0");
    CHECK(seat_here("a", "cuda:0", slurm).device.empty());
}

TEST_CASE("rank 0 gets the warnings of all ranks", "[mpi][crowding]") {
    LocalGroup group(2);
    Settings many;
    many.set("HEADSCOPE_THREADS", "255");
    Lines found[2];
    const auto run = [&](int rank) {
        LocalCommunicator ranks(group, rank, std::chrono::seconds(20));
        found[rank] = crowding(ranks, seat_here("a", "cpu", many));
    };
    std::thread other(run, 1);
    run(0);
    other.join();
    REQUIRE(found[0].size() == 1);
    CHECK(found[0].front().starts_with("2 ranks on host a compute with 510 threads"));
    CHECK(found[1].empty());
    CHECK(seat_here("a", "cpu", {}).threads >= 1);
    CHECK_FALSE(seat_here("a", "cpu", {}).threads_chosen);
}

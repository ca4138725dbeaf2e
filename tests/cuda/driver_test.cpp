// The driver's failures, each with its advice, and what it reports of cards.
#include <catch2/catch.hpp>
#include <string>

#include "backends/cuda/loader/driver.h"
#include "machine.h"

using namespace headscope;
using namespace headscope::cuda_tests;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using cuda::Driver;

TEST_CASE("the driver's version and cards are read, in order", "[cuda][driver]") {
    const Machine machine(12040, std::string(kP100) + ";" + kH200);
    const Driver driver(fake("driver"), environment_options().settings);
    CHECK(driver.version() == 12040);
    REQUIRE(driver.cards().size() == 2);
    const cuda::Card& card = driver.cards()[1];
    CHECK(driver.cards()[0].name == "Tesla P100-PCIE-16GB");
    CHECK(driver.cards()[0].sm == 60);
    CHECK(card.name == "NVIDIA H200");
    CHECK(card.sm == 90);
    CHECK(card.memory_bytes == std::uint64_t{143771} << 20U);
    CHECK(card.multiprocessors == 132);
    CHECK(card.shared_bytes == 227 * 1024);
    CHECK(card.l2_bytes == 50 * 1024 * 1024);
    CHECK(card.ecc);
    CHECK_FALSE(card.prohibited);
    CHECK(card.failure.empty());
}

TEST_CASE("a version is written like NVIDIA's", "[cuda][driver]") {
    CHECK(cuda::version_text(12040) == "12.4");
    CHECK(cuda::version_text(13000) == "13.0");
    CHECK(cuda::version_text(12110) == "12.11");
}

TEST_CASE("a missing driver is reported, with how to install one", "[cuda][driver]") {
    CHECK_THROWS_WITH(
        Driver("libcuda-of-nobody.so.1", environment_options().settings),
        "no NVIDIA driver (there is no libcuda-of-nobody.so.1); on a machine with an NVIDIA card, install it "
        "(Debian: nvidia-driver)");
    const TemporaryFolder folder;
    const std::string broken = folder.write("libcuda.so.1", "");
    CHECK_THROWS_WITH(Driver(broken, environment_options().settings),
                      StartsWith("no NVIDIA driver (" + broken + ": file too short); on a machine"));
}

TEST_CASE("a library that is not a driver is reported with the variable that named it", "[cuda][driver]") {
    const Variable named("HEADSCOPE_CUDA_DRIVER", "libcuda-of-nobody.so.1");
    CHECK_THROWS_WITH(Driver("libcuda-of-nobody.so.1", environment_options().settings),
                      Contains("HEADSCOPE_CUDA_DRIVER names it: unset it") && !Contains("install"));
    named.set(fake("no_entry"));
    CHECK_THROWS_WITH(Driver(fake("no_entry"), environment_options().settings),
                      Contains("HEADSCOPE_CUDA_DRIVER names it"));
    CHECK_THROWS_WITH(Driver("libcuda-of-nobody.so.1", environment_options().settings), Contains("install it"));
}

TEST_CASE("a library that is not a driver is reported", "[cuda][driver]") {
    CHECK_THROWS_WITH(Driver(fake("no_entry"), environment_options().settings),
                      Contains("no_entry.so is not an NVIDIA driver") && Contains("cuInit"));
}

TEST_CASE("a driver without a card reports what hides cards", "[cuda][driver]") {
    const Machine machine(13000, "");
    CHECK_THROWS_WITH(Driver(fake("driver"), environment_options().settings),
                      Contains("finds no card") && Contains("nvidia-smi"));
    machine.init_gives(100);
    CHECK_THROWS_WITH(Driver(fake("driver"), environment_options().settings),
                      Contains("finds no card") && Contains("docker run --gpus all"));
    const Variable hidden("CUDA_VISIBLE_DEVICES", "-1");
    CHECK_THROWS_WITH(Driver(fake("driver"), environment_options().settings),
                      Contains("CUDA_VISIBLE_DEVICES is \"-1\": unset it"));
}

TEST_CASE("a driver that is too new for the oldest cards reports that if it finds none", "[cuda][driver]") {
    {
        const Machine machine(13010, "");
        CHECK_THROWS_WITH(Driver(fake("driver"), environment_options().settings),
                          Contains("finds no card") && Contains("the last one that knows them is 580"));
        machine.init_gives(100);
        CHECK_THROWS_WITH(Driver(fake("driver"), environment_options().settings),
                          Contains("finds no card") && Contains("P100"));
    }
    const Machine machine(13000, "");
    CHECK_THROWS_WITH(Driver(fake("driver"), environment_options().settings),
                      Contains("finds no card") && !Contains("580"));
}

TEST_CASE("each way in which a driver fails to start has its own advice", "[cuda][driver]") {
    const Machine machine(13000, kH200);
    struct Row {
        int result;
        const char* advice;
    };
    for (const Row& row :
         {Row{34, "stubs folder out of LD_LIBRARY_PATH"}, Row{304, "may this user open /dev/nvidia*"},
          Row{802, "start nvidia-fabricmanager"}, Row{803, "different versions"}, Row{804, "cuda-compat"},
          Row{999, "the kernel's part of the driver"}, Row{3, "nvidia-smi"}}) {
        INFO(row.result);
        machine.init_gives(row.result);
        CHECK_THROWS_WITH(Driver(fake("driver"), environment_options().settings),
                          StartsWith("the NVIDIA driver does not start, cuInit failed with") &&
                              Contains(std::to_string(row.result)) && Contains(row.advice));
    }
    machine.init_gives(999);
    CHECK_THROWS_WITH(Driver(fake("driver"), environment_options().settings),
                      Contains("CUDA_ERROR_UNKNOWN (999), unknown error: "));
}

TEST_CASE("a card that fails alone does not affect the others", "[cuda][driver]") {
    const Machine machine(13000, std::string("Broken,0,100;") + kH200);
    const Driver driver(fake("driver"), environment_options().settings);
    REQUIRE(driver.cards().size() == 2);
    CHECK_THAT(driver.cards()[0].failure, Contains("cuDeviceGetAttribute failed with CUDA_ERROR_UNKNOWN (999)"));
    CHECK(driver.cards()[1].failure.empty());
}

#include "train/run_folder.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>

#include "tests/io/temporary_folder.h"

using namespace headscope;

namespace {

const Say kSilent = [](const std::string&) {};

}  // namespace

TEST_CASE("a run's folder has one holder at a time", "[folder]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("made/on the way");
    auto first = std::make_unique<RunFolder>(path, kSilent);
    CHECK_THAT(error_of([&] { RunFolder(path, kSilent); }), Catch::Contains(path) && Catch::Contains("running") &&
                                                                Catch::Contains("--output") &&
                                                                Catch::Contains("process " + std::to_string(getpid())));
    CHECK(error_of([&] { RunFolder(folder.file("other"), kSilent); }).empty());
    first.reset();
    CHECK(error_of([&] { RunFolder(path, kSilent); }).empty());
}

TEST_CASE("a new run does not take a folder that holds checkpoints", "[folder]") {
    const TemporaryFolder folder;
    const RunFolder run(folder.file("out"), kSilent);
    CHECK_FALSE(run.holds_checkpoints());
    CHECK_NOTHROW(run.require_unused());
    folder.write("out/checkpoints/step-00000003.safetensors", "");
    CHECK(run.holds_checkpoints());
    CHECK_THAT(error_of([&] { run.require_unused(); }), Catch::Contains("--resume") && Catch::Contains("--output"));
}

TEST_CASE("a run's folder that cannot be made is named", "[folder]") {
    const TemporaryFolder folder;
    folder.write("file", "");
    CHECK_THAT(error_of([&] { RunFolder(folder.file("file/out"), kSilent); }),
               Catch::Contains("file/out") && Catch::Contains("cannot make"));
}

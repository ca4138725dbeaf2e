// Module files: where they are searched, and why some are rejected.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backends/cuda/loader/modules.h"
#include "machine.h"

using namespace headscope;
using namespace headscope::cuda_tests;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

std::string contract() {
    return cuda::Places::from({}).contract;
}

std::string refusal(const std::string& file) {
    const cuda::LoadedModule loaded = cuda::load_module(file, contract());
    CHECK(loaded.module == nullptr);
    CHECK(loaded.refused.find('\n') == std::string::npos);
    return loaded.refused;
}

}  // namespace

TEST_CASE("modules are next to the program, in ../lib/headscope, or in the named folder", "[cuda][modules]") {
    using Folders = std::vector<std::string>;
    const std::string here = fs::canonical("/proc/self/exe").parent_path().string();
    CHECK(cuda::Places::from({}).folders.at(0) == here);
    CHECK(cuda::Places::from({{{"HEADSCOPE_CUDA_MODULES", "/elsewhere"}}}).folders == Folders{"/elsewhere"});
    CHECK(cuda::Places::from({}).driver == "libcuda.so.1");
    CHECK(cuda::Places::from({{{"HEADSCOPE_CUDA_DRIVER", ""}}}).driver == "libcuda.so.1");
}

TEST_CASE("a folder's modules are found by name, the highest number first", "[cuda][modules]") {
    const TemporaryFolder first;
    const TemporaryFolder second;
    for (const char* name : {"libheadscope_cuda9.so", "libheadscope_cuda12.so", "libheadscope_cuda_emulated.so",
                             "libheadscope_cuda12.so.old", "libheadscope.so", "headscope", "libheadscope_cuda.a"}) {
        first.write(name, "");
    }
    second.write("libheadscope_cuda13.so", "");
    second.write("libheadscope_cuda12.so", "");
    const std::vector<std::string> found = cuda::module_files({first.file(""), "/no such folder", second.file("")});
    const std::vector<std::string> expected{second.file("libheadscope_cuda13.so"), first.file("libheadscope_cuda12.so"),
                                            second.file("libheadscope_cuda12.so"), first.file("libheadscope_cuda9.so"),
                                            first.file("libheadscope_cuda_emulated.so")};
    CHECK(found == expected);
    CHECK(cuda::module_files({}).empty());
}

TEST_CASE("a module describes itself", "[cuda][modules]") {
    const cuda::LoadedModule loaded = cuda::load_module(fake("module13"), contract());
    CHECK(loaded.refused.empty());
    REQUIRE(loaded.module != nullptr);
    CHECK(loaded.facts.name == "module13.so");
    CHECK(loaded.facts.toolkit == 13000);
    CHECK(loaded.facts.architectures == std::vector<int>{75, 80, 86, 89, 90, 100, 120});
    CHECK(loaded.facts.ptx == 120);
    CHECK_FALSE(loaded.facts.emulated);
    CHECK(cuda::load_module(fake("emulated"), contract()).facts.emulated);
}

TEST_CASE("a module of another build is rejected before anything else in it is read", "[cuda][modules]") {
    CHECK_THAT(refusal(fake("stale")),
               Contains("stale.so does not belong to this program") && Contains("\"headscope of yesterday\"") &&
                   Contains("\"" + contract() + "\"") && Contains("build or install both together"));
    CHECK(cuda::load_module(fake("stale"), "headscope of yesterday").module != nullptr);
}

TEST_CASE("the contract names version, compiler and headers", "[cuda][modules]") {
    CHECK_THAT(contract(), Catch::Matchers::Matches("headscope [0-9.]+, [A-Za-z]+ [0-9.]+, headers [0-9a-f]{16}"));
}

TEST_CASE("a library that is not a module is rejected", "[cuda][modules]") {
    CHECK_THAT(refusal(fake("no_entry")), Contains("no_entry.so is not a Headscope module") &&
                                              Contains("headscope_cuda_module") && Contains("remove it"));
}

TEST_CASE("a missing library that a module needs is named", "[cuda][modules]") {
    CHECK_THAT(refusal(fake("needs_library")),
               StartsWith("needs_library.so needs libcublas.so.99, which is missing (libcublas.so.99: cannot open") &&
                   Contains("install CUDA 99's libraries") && Contains("LD_LIBRARY_PATH"));
}

TEST_CASE("a truncated file is rejected, wherever it was cut", "[cuda][modules]") {
    const TemporaryFolder folder;
    const std::string whole = read_all(fake("stale"));
    REQUIRE(whole.size() > 4096);
    constexpr std::size_t kStep = 256;
    bool loads = false;
    for (std::size_t size = 0; size < whole.size(); size += kStep) {
        INFO(size << " of " << whole.size() << " bytes");
        const std::string file =
            folder.write("libheadscope_cuda" + std::to_string(size) + ".so", whole.substr(0, size));
        const std::string refused = refusal(file);
        // What follows the last loaded part is only for debuggers and linkers.
        loads = loads || refused.starts_with(file + " does not belong");
        CHECK_THAT(refused, StartsWith(file + (loads ? " does not belong to this program"
                                                     : " cannot be read or is truncated: install it again")));
    }
    const std::string text = folder.write("libheadscope_cuda12.so", std::string(10000, 'x'));
    CHECK_THAT(refusal(text), Contains("is truncated"));
    CHECK_THAT(refusal(folder.file("absent.so")), Contains("cannot be read"));
    fs::create_directory(folder.file("libheadscope_cuda13.so"));
    CHECK_THAT(refusal(folder.file("libheadscope_cuda13.so")), Contains("cannot be read"));
}

TEST_CASE("dlopen's own message is passed on if nothing better is known", "[cuda][modules]") {
    const TemporaryFolder folder;
    std::string bytes = read_all(fake("module12"));
    bytes[18] = 0x03;  // the machine: not x86-64, nor any other that runs this test
    bytes[19] = 0x7f;
    const std::string file = folder.write("libheadscope_cuda12.so", bytes);
    CHECK_THAT(refusal(file), StartsWith("libheadscope_cuda12.so cannot be loaded (" + file) &&
                                  Contains("install it again, together with this program"));
}

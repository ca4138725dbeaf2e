#include "io/scratch.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "support/random.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

TEST_CASE("scratch bytes are read back from memory, file and buffer", "[scratch]") {
    const TemporaryFolder folder;
    const std::size_t in_memory = GENERATE(std::size_t{0}, std::size_t{1000}, Scratch::kInMemory);
    Scratch scratch(folder.file(""), in_memory);
    std::string all;
    Random random(4);
    for (int i = 0; i < 300; ++i) {  // some megabytes: written parts and a buffered one
        std::string part(random.below(20'000), '\0');
        for (char& c : part) {
            c = static_cast<char>(random.next());
        }
        CHECK(scratch.append(part.data(), part.size()) == all.size());
        all += part;
    }
    CHECK(scratch.size() == all.size());
    for (int i = 0; i < 500; ++i) {
        const std::size_t at = random.below(all.size());
        std::string got(random.below(all.size() - at), '\0');
        scratch.read(at, got.data(), got.size());
        REQUIRE(got == all.substr(at, got.size()));
    }
    CHECK(std::filesystem::is_empty(folder.file("")));
    char byte = 0;
    CHECK_THROWS_AS(scratch.read(all.size(), &byte, 1), CheckFailure);
}

TEST_CASE("an error names a folder without room for a scratch file", "[scratch]") {
    const TemporaryFolder folder;
    Scratch scratch(folder.file("none"), 0);
    const std::vector<char> many(std::size_t{2} << 20U);
    CHECK_THAT(error_of([&] { scratch.append(many.data(), many.size()); }),
               Contains(folder.file("none")) && Contains("No such file"));
}

TEST_CASE("a full disk is an error", "[scratch]") {
    const TemporaryFolder folder;
    Scratch scratch(folder.file(""), 0);
    const std::vector<char> many(std::size_t{8} << 20U);
    struct rlimit kept {};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &kept) == 0);
    const auto old = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit small = kept;
    small.rlim_cur = std::size_t{3} << 20U;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const std::string message = error_of([&] { scratch.append(many.data(), many.size()); });
    ::setrlimit(RLIMIT_FSIZE, &kept);
    std::signal(SIGXFSZ, old);
    CHECK_THAT(message, Contains("past 3 MiB") && Contains("free some space"));
}

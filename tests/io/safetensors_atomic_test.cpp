#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "io/atomic_file.h"
#include "tests/io/file_size_limit.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

TEST_CASE("a file is replaced whole", "[atomic]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.json");
    atomic_write_file(path, "first");
    CHECK(read_all(path) == "first");
    atomic_write_file(path, "");
    CHECK(read_all(path).empty());
    CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST_CASE("without commit the old file stays and the temporary one goes", "[atomic]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("a.json", "old");
    {
        AtomicFile file(path);
        file.write("half of the ne");
        CHECK(read_all(path) == "old");
        CHECK(std::filesystem::exists(path + ".tmp"));
    }
    CHECK(read_all(path) == "old");
    CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST_CASE("a full disk loses nothing", "[atomic]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("a.bin", "old");
    const FileSizeLimit limit(1000);
    const std::string message = error_of([&] { atomic_write_file(path, std::string(5000, 'x')); });
    CHECK_THAT(message, Contains(path) && Contains("File too large"));
    CHECK(read_all(path) == "old");
    CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST_CASE("what a killed writer left behind is used again", "[atomic]") {
    const TemporaryFolder folder;
    folder.write("a.json.tmp", "a long text that a killed process left");
    atomic_write_file(folder.file("a.json"), "new");
    CHECK(read_all(folder.file("a.json")) == "new");
}

TEST_CASE("two writers of one path do not mix", "[atomic]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.json");
    AtomicFile first(path);
    first.write("first");
    CHECK_THAT(error_of([&] { AtomicFile second(path); }), Contains("another process") && Contains(path));
    first.write(", still");
    first.commit();
    CHECK(read_all(path) == "first, still");
}

TEST_CASE("what cannot be written says why", "[atomic]") {
    const TemporaryFolder folder;
    CHECK_THAT(error_of([&] { atomic_write_file(folder.file("none/a"), "x"); }),
               Contains("none/a") && Contains("No such file") && Contains("create the folder"));
    CHECK_THAT(error_of([&] { atomic_write_file(folder.file(""), "x"); }), Contains("not a regular file"));
    const std::string pipe = folder.file("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THAT(error_of([&] { atomic_write_file(pipe, "x"); }), Contains("not a regular file"));
    CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("a file keeps the mode of the one that it replaces", "[atomic]") {
    const TemporaryFolder folder;
    const auto mode = [&](const std::string& path) {
        struct stat found {};
        REQUIRE(::stat(path.c_str(), &found) == 0);
        return found.st_mode & 07777U;
    };
    const std::string path = folder.write("a", "old");
    for (const mode_t wanted : {0600U, 0444U, 0755U, 0666U}) {
        REQUIRE(::chmod(path.c_str(), wanted) == 0);
        atomic_write_file(path, "new");
        CHECK(mode(path) == wanted);
    }
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    {
        AtomicFile secret(path);
        CHECK(mode(path + ".tmp") == 0600U);  // before anything is written
    }
    const mode_t before = ::umask(027);
    folder.write("b.tmp", "left by a killed writer");
    REQUIRE(::chmod(folder.file("b.tmp").c_str(), 0600) == 0);
    atomic_write_file(folder.file("b"), "new");
    ::umask(before);
    CHECK(mode(folder.file("b")) == 0640U);
}

TEST_CASE("a symbolic link stays, and what it leads to is written", "[atomic]") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("deep"));
    folder.write("deep/target", "old");
    std::filesystem::create_symlink("deep/target", folder.file("link"));
    std::filesystem::create_symlink(folder.file("link"), folder.file("link-to-link"));
    std::filesystem::create_symlink("deep/new", folder.file("dangling"));
    atomic_write_file(folder.file("link-to-link"), "new");
    CHECK(std::filesystem::is_symlink(folder.file("link")));
    CHECK(std::filesystem::is_symlink(folder.file("link-to-link")));
    CHECK(read_all(folder.file("deep/target")) == "new");
    atomic_write_file(folder.file("dangling"), "made");
    CHECK(std::filesystem::is_symlink(folder.file("dangling")));
    CHECK(read_all(folder.file("deep/new")) == "made");
    CHECK_FALSE(std::filesystem::exists(folder.file("deep/new.tmp")));
    std::filesystem::create_symlink("loop", folder.file("loop"));
    CHECK_THAT(error_of([&] { atomic_write_file(folder.file("loop"), "x"); }), Contains("loop"));
    std::filesystem::create_directory_symlink("deep", folder.file("folder"));
    CHECK_THAT(error_of([&] { atomic_write_file(folder.file("folder"), "x"); }), Contains("not a regular file"));
}

TEST_CASE("what a killed writer left may be a name of another file, which stays whole", "[atomic]") {
    const TemporaryFolder folder;
    const std::string other = folder.write("other", "kept");
    std::filesystem::create_hard_link(other, folder.file("a.tmp"));
    atomic_write_file(folder.file("a"), "new");
    CHECK(read_all(other) == "kept");
    CHECK(read_all(folder.file("a")) == "new");
}

TEST_CASE("an AtomicFile is committed once", "[atomic]") {
    const TemporaryFolder folder;
    AtomicFile file(folder.file("a"));
    file.commit();
    CHECK_THROWS_AS(file.write("x"), CheckFailure);
    CHECK_THROWS_AS(file.commit(), CheckFailure);
}

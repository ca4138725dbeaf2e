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

TEST_CASE("an AtomicFile is committed once", "[atomic]") {
    const TemporaryFolder folder;
    AtomicFile file(folder.file("a"));
    file.commit();
    CHECK_THROWS_AS(file.write("x"), CheckFailure);
    CHECK_THROWS_AS(file.commit(), CheckFailure);
}

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

TEST_CASE("a file is replaced atomically", "[atomic]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.json");
    atomic_write_file(path, "first");
    CHECK(read_all(path) == "first");
    atomic_write_file(path, "");
    CHECK(read_all(path).empty());
    CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST_CASE("without commit() the old file stays and the temporary one is removed", "[atomic]") {
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

TEST_CASE("the temporary file of a killed writer is replaced", "[atomic]") {
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

TEST_CASE("a file that cannot be written is an error with the reason", "[atomic]") {
    const TemporaryFolder folder;
    CHECK_THAT(error_of([&] { atomic_write_file(folder.file("none/a"), "x"); }),
               Contains("none/a") && Contains("No such file") && Contains("create the folder"));
    CHECK_THAT(error_of([&] { atomic_write_file(folder.file(""), "x"); }), Contains("not a regular file"));
    const std::string pipe = folder.file("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THAT(error_of([&] { atomic_write_file(pipe, "x"); }), Contains("not a regular file"));
    CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("a foreign file with the temporary name stays and is an error", "[atomic]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("a", "old");
    const std::string temporary = path + ".tmp";
    const auto refused = [&] {
        CHECK_THAT(error_of([&] { atomic_write_file(path, "x"); }),
                   Contains(path) && Contains("'" + temporary + "' is in the way") && Contains("not a regular file"));
        CHECK(read_all(path) == "old");
    };
    std::filesystem::create_directory(temporary);
    refused();
    std::filesystem::remove(temporary);
    REQUIRE(::mkfifo(temporary.c_str(), 0600) == 0);
    refused();
    std::filesystem::remove(temporary);
    std::filesystem::create_symlink(folder.write("other", "kept"), temporary);
    refused();
    CHECK(read_all(folder.file("other")) == "kept");
}

TEST_CASE("a leftover temporary file that cannot be removed is reported", "[atomic]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a");
    folder.write("a.tmp", "left");
    REQUIRE(::chmod(folder.file("a.tmp").c_str(), 0644) == 0);
    REQUIRE(::chmod(folder.file("").c_str(), 0555) == 0);
    constexpr uid_t kNobody = 65534;
    const uid_t before = ::geteuid();
    const bool was_root = before == 0;  // root ignores modes
    if (was_root && ::seteuid(kNobody) != 0) {
        return;
    }
    const std::string message = error_of([&] { atomic_write_file(path, "x"); });
    if (was_root) {
        REQUIRE(::seteuid(before) == 0);
    }
    REQUIRE(::chmod(folder.file("").c_str(), 0755) == 0);
    CHECK_THAT(message, Contains(path) && Contains("removing") && Contains("Permission denied"));
}

TEST_CASE("the file of a standard stream is not replaced", "[atomic]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("scores", "");
    const int kept = ::dup(STDOUT_FILENO);
    const auto with_stdout = [&](int descriptor, const std::string& output) {
        REQUIRE(::dup2(descriptor, STDOUT_FILENO) == STDOUT_FILENO);
        std::string message = error_of([&] { atomic_write_file(output, "x"); });
        ::dup2(kept, STDOUT_FILENO);
        return message;
    };
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND);
    for (const std::string& name : {path, std::string("/dev/stdout"), std::string("/proc/self/fd/1")}) {
        CHECK_THAT(with_stdout(file, name), Contains("'" + name + "'") && Contains("standard output goes there"));
    }
    folder.write("b.tmp", "");
    const int beside = ::open(folder.file("b.tmp").c_str(), O_WRONLY);
    CHECK_THAT(with_stdout(beside, folder.file("b")), Contains("b.tmp' is in the way"));
    int ends[2] = {};
    REQUIRE(::pipe(ends) == 0);
    CHECK_THAT(with_stdout(ends[1], "/dev/stdout"), Contains("not a regular file"));
    for (const int open : {kept, file, beside, ends[0], ends[1]}) {
        ::close(open);
    }
    CHECK(read_all(path).empty());
}

TEST_CASE("a new file keeps the mode of the replaced one", "[atomic]") {
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

TEST_CASE("a symbolic link stays, and its target is written", "[atomic]") {
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

TEST_CASE("a leftover that is a hard link to another file does not change that file", "[atomic]") {
    const TemporaryFolder folder;
    const std::string other = folder.write("other", "kept");
    std::filesystem::create_hard_link(other, folder.file("a.tmp"));
    atomic_write_file(folder.file("a"), "new");
    CHECK(read_all(other) == "kept");
    CHECK(read_all(folder.file("a")) == "new");
}

TEST_CASE("an AtomicFile can be committed only once", "[atomic]") {
    const TemporaryFolder folder;
    AtomicFile file(folder.file("a"));
    file.commit();
    CHECK_THROWS_AS(file.write("x"), CheckFailure);
    CHECK_THROWS_AS(file.commit(), CheckFailure);
}

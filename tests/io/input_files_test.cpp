#include "io/input_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "io/written_record.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("an output that is an input is refused, whatever it is called", "[inputs]") {
    const TemporaryFolder folder;
    const std::string input = folder.write("a.tsv", "text");
    fs::create_hard_link(input, folder.file("hard"));
    fs::create_symlink("a.tsv", folder.file("link"));
    fs::create_symlink("link", folder.file("link-to-link"));
    fs::create_directory_symlink(".", folder.file("folder"));
    fs::create_hard_link(input, folder.file("b.tsv.tmp"));
    InputFiles inputs;
    inputs.add(input);
    for (const char* name :
         {"a.tsv", "./a.tsv", "hard", "link", "link-to-link", "folder/a.tsv", "folder/folder/hard", "b.tsv"}) {
        INFO(name);
        CHECK_THAT(error_of([&] { inputs.refuse(folder.file(name)); }),
                   Contains(folder.file(name)) && Contains("same file as '" + input + "'"));
    }
    CHECK(error_of([&] { inputs.refuse(folder.file("another.tsv")); }).empty());
    CHECK(error_of([&] { inputs.refuse(folder.write("copy.tsv", "text")); }).empty());
}

TEST_CASE("an input may be named by a link, or lie in a folder that is read", "[inputs]") {
    const TemporaryFolder folder;
    fs::create_directories(folder.file("model/deeper"));
    folder.write("model/deeper/weights", "w");
    fs::create_symlink(folder.write("elsewhere", "c"), folder.file("model/config.json"));
    fs::create_symlink("model", folder.file("alias"));
    InputFiles inputs;
    inputs.add({folder.file("alias"), "", folder.file("none")});
    CHECK_THAT(error_of([&] { inputs.refuse(folder.file("model/deeper/weights")); }), Contains("same file"));
    CHECK_THAT(error_of([&] { inputs.refuse(folder.file("elsewhere")); }), Contains("config.json"));
    CHECK(error_of([&] { inputs.refuse(folder.file("none")); }).empty());
}

TEST_CASE("standard input and output count where they are files", "[inputs]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("text", "x\n");
    const int kept = ::dup(STDIN_FILENO);
    const int file = ::open(path.c_str(), O_RDONLY);
    REQUIRE(::dup2(file, STDIN_FILENO) == STDIN_FILENO);
    InputFiles inputs;
    inputs.add("-");
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
    ::close(file);
    CHECK_THAT(error_of([&] { inputs.refuse(path); }), Contains("same file as standard input"));

    const int output = ::dup(STDOUT_FILENO);
    const int appended = ::open(path.c_str(), O_WRONLY | O_APPEND);
    REQUIRE(::dup2(appended, STDOUT_FILENO) == STDOUT_FILENO);
    const std::string said = error_of([&] { inputs.refuse("-"); });
    ::dup2(output, STDOUT_FILENO);
    ::close(output);
    ::close(appended);
    CHECK_THAT(said, Contains("standard output"));

    InputFiles devices;
    devices.add("/dev/null");
    CHECK(error_of([&] { devices.refuse("/dev/null"); }).empty());
}

TEST_CASE("a generator replaces only what it wrote", "[inputs]") {
    const TemporaryFolder folder;
    const WrittenRecord record(folder.file(""));
    CHECK(error_of([&] { record.require_own({"a", "b"}); }).empty());
    folder.write("a", "generated");
    folder.write("b", "");
    CHECK_THAT(error_of([&] { record.require_own({"a"}); }),
               Contains(folder.file("a")) && Contains("another --output"));
    record.save({"a", "b"});
    CHECK(error_of([&] { record.require_own({"a", "b", "c"}); }).empty());
    folder.write("c", "somebody's");
    CHECK_THAT(error_of([&] { record.require_own({"a", "b", "c"}); }), Contains(folder.file("c")));
    folder.write("a", "Generated");  // as long
    CHECK_THAT(error_of([&] { record.require_own({"a"}); }), Contains(folder.file("a")));
    fs::remove(folder.file("a"));
    CHECK(error_of([&] { record.require_own({"a"}); }).empty());
}

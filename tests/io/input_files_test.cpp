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

TEST_CASE("an output that is an input is rejected under any name", "[inputs]") {
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
        const std::string message = error_of([&] { inputs.refuse(folder.file(name)); });
        CHECK_THAT(message, Contains("'" + folder.file(name) + "' would be written while it is read"));
        CHECK((message.find("same file as '" + input + "'") == std::string::npos) ==
              (fs::path(folder.file(name)).lexically_normal() == input));
    }
    CHECK(error_of([&] { inputs.refuse(folder.file("another.tsv")); }).empty());
    CHECK(error_of([&] { inputs.refuse(folder.write("copy.tsv", "text")); }).empty());
}

TEST_CASE("an input may be a link, or in a folder that is an input", "[inputs]") {
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

TEST_CASE("standard input and output are checked if they are files", "[inputs]") {
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
    std::vector<std::string> said;
    for (const std::string& name : {std::string("-"), folder.file("another")}) {
        said.push_back(error_of([&] { inputs.refuse(name); }));
    }
    ::dup2(output, STDOUT_FILENO);
    ::close(output);
    ::close(appended);
    for (const std::string& message : said) {
        CHECK_THAT(message, Contains("standard output would be written while it is read"));
    }
    InputFiles traced(Settings({{"HEADSCOPE_TRACE", path}}));
    traced.add(path);
    CHECK_THAT(error_of([&] { traced.refuse(folder.file("another")); }), Contains("the trace '" + path + "'"));

    InputFiles devices;
    devices.add("/dev/null");
    CHECK(error_of([&] { devices.refuse("/dev/null"); }).empty());
}

TEST_CASE("a generator replaces only its own files", "[inputs]") {
    const TemporaryFolder folder;
    const WrittenRecord record(folder.file(""));
    CHECK(error_of([&] { record.require_own({"a", "b"}); }).empty());
    folder.write("a", "generated");
    folder.write("b", "");
    CHECK_THAT(error_of([&] { record.require_own({"a"}); }),
               Contains(folder.file("a")) && Contains("another --output"));
    fs::remove(folder.file("a"));
    fs::remove(folder.file("b"));
    const auto generate = [&](const std::string& a, const std::string& b) {
        AtomicFile first(folder.file("a"));
        AtomicFile second(folder.file("b"));
        first.write(a);
        second.write(b);
        record.commit({&first, &second});
    };
    generate("generated", "");
    CHECK(error_of([&] { record.require_own({"a", "b", "c"}); }).empty());
    folder.write("c", "somebody's");
    CHECK_THAT(error_of([&] { record.require_own({"a", "b", "c"}); }), Contains(folder.file("c")));
    folder.write("a", "Generated");  // as long
    CHECK_THAT(error_of([&] { record.require_own({"a"}); }),
               Contains(folder.file("a")) && Contains("was changed since"));
    fs::remove(folder.file("a"));
    CHECK(error_of([&] { record.require_own({"a"}); }).empty());
    fs::remove(folder.file(WrittenRecord::kFile));
    CHECK_THAT(error_of([&] { record.require_own({"b"}); }), Contains("by an earlier version"));
}

TEST_CASE("a generator that failed between its files recognizes them", "[inputs]") {
    const TemporaryFolder folder;
    const WrittenRecord record(folder.file(""));
    const auto generate = [&](const std::string& text) {
        AtomicFile first(folder.file("a"));
        AtomicFile second(folder.file("b"));
        first.write(text);
        second.write(text);
        record.commit({&first, &second});
    };
    {
        AtomicFile first(folder.file("a"));
        AtomicFile second(folder.file("b"));
        fs::create_directory(folder.file("b"));  // cannot be replaced
        CHECK_FALSE(error_of([&] { record.commit({&first, &second}); }).empty());
    }
    CHECK(fs::exists(folder.file("a")));
    fs::remove(folder.file("b"));
    CHECK(error_of([&] { record.require_own({"a", "b"}); }).empty());
    generate("one");
    generate("two");
    folder.write("b", "one");  // as if it had not been replaced
    CHECK(error_of([&] { record.require_own({"a", "b"}); }).empty());
    generate("three");
    generate("four");
    folder.write("b", "one");
    CHECK_THAT(error_of([&] { record.require_own({"a", "b"}); }), Contains(folder.file("b")));
}

TEST_CASE("a generator rejects two names of the same file", "[inputs]") {
    const TemporaryFolder folder;
    fs::create_symlink("a", folder.file("b"));
    CHECK_THAT(error_of([&] {
                   WrittenRecord(folder.file("")).require_own({"a", "b"});
               }),
               Contains("'" + folder.file("a") + "' and '" + folder.file("b") + "' are the same file"));
}

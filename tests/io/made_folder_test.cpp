#include "io/made_folder.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/io/temporary_folder.h"

using namespace headscope;

TEST_CASE("a created folder and its created parents are removed unless kept", "[made_folder]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a/b/c");
    {
        const MadeFolder made(path);
        CHECK(std::filesystem::is_directory(path));
    }
    CHECK_FALSE(std::filesystem::exists(folder.file("a")));
    { MadeFolder(path).keep(); }
    CHECK(std::filesystem::is_directory(path));
    { const MadeFolder there(path); }
    CHECK(std::filesystem::is_directory(path));
}

TEST_CASE("a created folder stays if it is not empty", "[made_folder]") {
    const TemporaryFolder folder;
    {
        const MadeFolder made(folder.file("a/b"));
        folder.write("a/note", "mine");
    }
    CHECK_FALSE(std::filesystem::exists(folder.file("a/b")));
    CHECK(read_all(folder.file("a/note")) == "mine");
}

TEST_CASE("an error names a folder that cannot be created, and nothing is left", "[made_folder]") {
    const TemporaryFolder folder;
    folder.write("file", "");
    CHECK_THAT(error_of([&] { MadeFolder(folder.file("file/out")); }),
               Catch::Contains("file/out'") && Catch::Contains("cannot create the folder"));
    CHECK_FALSE(std::filesystem::exists(folder.file("file/out")));
}

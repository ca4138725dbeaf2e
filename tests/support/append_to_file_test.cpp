#include "support/append_to_file.h"

#include <catch2/catch.hpp>

#include "tests/io/file_size_limit.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

TEST_CASE("text is appended, or replaces the end", "[append]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a");
    append_to_file(path, "one");
    append_to_file(path, " two]");
    append_to_file(path, ", three]", 1);
    CHECK(read_all(path) == "one two, three]");
    CHECK_THAT(error_of([&] { append_to_file(path, "", 100); }), Contains(path) && Contains("truncated"));
}

TEST_CASE("a failed append leaves the file unchanged and is an error with the reason", "[append]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("a", "[1, 2]");
    {
        const FileSizeLimit limit(10);
        CHECK_THAT(error_of([&] { append_to_file(path, ", 3, 4, 5]", 1); }),
                   Contains(path) && Contains("File too large"));
    }
    CHECK(read_all(path) == "[1, 2]");
    CHECK_THAT(error_of([&] { append_to_file(folder.file("none/a"), "x"); }), Contains("No such file"));
    CHECK_THAT(error_of([&] { append_to_file("/dev/full", "x"); }), Contains("No space left"));
}

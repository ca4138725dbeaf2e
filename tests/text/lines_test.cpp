#include "text/lines.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/fuzz/zstd.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Lines = std::vector<std::string>;

namespace {

std::string gzip(const std::string& text, const std::string& path) {
    gzFile file = ::gzopen(path.c_str(), "wb");
    ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    ::gzclose(file);
    return read_all(path);
}

}  // namespace

TEST_CASE("LF alone ends a line", "[lines]") {
    const TemporaryFolder folder;
    CHECK(read_lines(folder.write("a", "")) == Lines{});
    CHECK(read_lines(folder.write("a", "\n")) == Lines{""});
    CHECK(read_lines(folder.write("a", "x")) == Lines{"x"});
    CHECK(read_lines(folder.write("a", "x\n\ny\n")) == Lines{"x", "", "y"});
    CHECK(read_lines(folder.write("a", "x\r\ny\v\f\x1c\n")) == Lines{"x\r", "y\v\f\x1c"});
    CHECK(read_lines(folder.write("a", "x\xC2\x85y\xE2\x80\xA8z\tw")) == Lines{"x\xC2\x85y\xE2\x80\xA8z\tw"});
}

TEST_CASE("lines longer than any buffer stay whole", "[lines]") {
    const TemporaryFolder folder;
    std::string line(300'000, 'a');
    line += "\xC3\xA4";
    CHECK(read_lines(folder.write("a", line + "\n" + line)) == Lines{line, line});
}

TEST_CASE("gzip is known by its content", "[lines]") {
    const TemporaryFolder folder;
    const std::string packed = gzip("x\ny\n", folder.file("a.gz"));
    CHECK(read_lines(folder.file("a.gz")) == Lines{"x", "y"});
    CHECK(read_lines(folder.write("plain-name", packed)) == Lines{"x", "y"});
    CHECK(read_lines(folder.write("two", packed + packed)) == Lines{"x", "y", "x", "y"});
}

TEST_CASE("files that cannot be read say why", "[lines]") {
    const TemporaryFolder folder;
    CHECK_THAT(error_of([&] { read_lines(folder.file("none")); }), Contains("none") && Contains("No such file"));
    CHECK_THAT(error_of([&] { read_lines(folder.file("")); }), Contains("Is a directory") && !Contains("damaged"));
    CHECK_THAT(error_of([&] { read_lines(folder.write("a.txt", "good\nb\xC3\xA4\xFFx\n")); }),
               Contains("a.txt' line 2 ") && Contains("byte 4") && Contains("0xff"));
    CHECK_THAT(error_of([&] { read_lines(folder.write("a.txt", "good\n\xE2\x82")); }), Contains("line 2 "));
}

TEST_CASE("standard input is called by its name", "[lines]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("bad.txt", "b\xFF\n");
    const int kept = ::dup(STDIN_FILENO);
    const int file = ::open(path.c_str(), O_RDONLY);
    REQUIRE(::dup2(file, STDIN_FILENO) == STDIN_FILENO);
    const std::string said = error_of([&] { read_lines("/dev/stdin"); });
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
    ::close(file);
    CHECK_THAT(said, Catch::Matchers::StartsWith("standard input line 1 is not UTF-8"));
}

TEST_CASE("a gzip file cut at any byte or damaged is refused", "[lines]") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text += std::to_string(i * i * 7919) + "\n";
    }
    const std::string packed = gzip(text, folder.file("a.gz"));
    for (std::size_t size = 20; size < packed.size(); ++size) {
        const std::string path = folder.write("cut.gz", packed.substr(0, size));
        CHECK_THAT(error_of([&] { read_lines(path); }), Contains("cut.gz") && Contains("fetch it again"));
    }
    std::string damaged = packed;
    damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // in the checksum
    CHECK_THAT(error_of([&] { read_lines(folder.write("bad.gz", damaged)); }), Contains("bad.gz"));
}

TEST_CASE("zstd is known by its content", "[lines]") {
    const TemporaryFolder folder;
    CHECK(read_lines(folder.write("a.zst", zstd("x\ny\n"))) == Lines{"x", "y"});
    CHECK(read_lines(folder.write("two", zstd("x\ny") + zstd("z\n"))) == Lines{"x", "yz"});
    CHECK(read_lines(folder.write("empty", zstd(""))).empty());
    const std::string large(3'000'000, 'a');
    CHECK(read_lines(folder.write("large", zstd(large + "\n" + large))) == Lines{large, large});
    CHECK(read_lines(folder.write("short", "(")) == Lines{"("});  // as a zstd file begins, but shorter than its mark
}

TEST_CASE("a zstd file cut at any byte, damaged or followed by something else is refused", "[lines]") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text += std::to_string(i * i * 7919) + "\n";
    }
    const std::string packed = zstd(text);
    for (std::size_t size = 4; size < packed.size(); ++size) {
        const std::string path = folder.write("cut.zst", packed.substr(0, size));
        CHECK_THAT(error_of([&] { read_lines(path); }), Contains("cut.zst") && Contains("fetch it again"));
    }
    CHECK_THAT(error_of([&] { read_lines(folder.write("more.zst", packed + "more")); }), Contains("more.zst"));
    CHECK_THAT(error_of([&] { read_lines(folder.write("more.gz", gzip("x\n", folder.file("a.gz")) + "more")); }),
               Contains("more.gz") && Contains("fetch it again"));
}

TEST_CASE("lines are counted, and bytes that are no text can be had", "[lines]") {
    const TemporaryFolder folder;
    LineReader reader(folder.write("a", "x\n\xff\nz"));
    std::string line;
    CHECK(reader.next(line));
    CHECK(reader.number() == 1);
    CHECK(reader.next_bytes(line));
    CHECK(line == "\xff");
    CHECK(reader.number() == 2);
    CHECK(reader.next(line));
    CHECK(line == "z");
    CHECK_FALSE(reader.next(line));
    CHECK_FALSE(reader.next(line));
    CHECK(reader.number() == 3);
}

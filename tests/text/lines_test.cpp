#include "text/lines.h"

#include <bzlib.h>
#include <fcntl.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/byte_order_mark.h"
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

std::string xz(const std::string& text) {
    std::string packed(::lzma_stream_buffer_bound(text.size()), '\0');
    std::size_t size = 0;
    REQUIRE(::lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                      text.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &size,
                                      packed.size()) == LZMA_OK);
    packed.resize(size);
    return packed;
}

std::string bzip2(const std::string& text) {
    std::string packed(text.size() + text.size() / 100 + 600, '\0');
    auto size = static_cast<unsigned>(packed.size());
    std::string copy = text;  // the library may change it
    REQUIRE(::BZ2_bzBuffToBuffCompress(packed.data(), &size, copy.data(), static_cast<unsigned>(copy.size()), 9, 0,
                                       0) == BZ_OK);
    packed.resize(size);
    return packed;
}

}  // namespace

TEST_CASE("only LF ends a line", "[lines]") {
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

TEST_CASE("gzip is detected by its content", "[lines]") {
    const TemporaryFolder folder;
    const std::string packed = gzip("x\ny\n", folder.file("a.gz"));
    CHECK(read_lines(folder.file("a.gz")) == Lines{"x", "y"});
    CHECK(read_lines(folder.write("plain-name", packed)) == Lines{"x", "y"});
    CHECK(read_lines(folder.write("two", packed + packed)) == Lines{"x", "y", "x", "y"});
}

TEST_CASE("an unreadable file is an error with the reason", "[lines]") {
    const TemporaryFolder folder;
    CHECK_THAT(error_of([&] { read_lines(folder.file("none")); }), Contains("none") && Contains("No such file"));
    CHECK_THAT(error_of([&] { read_lines(folder.file("")); }), Contains("Is a directory") && !Contains("damaged"));
    CHECK_THAT(error_of([&] { read_lines(folder.write("a.txt", "good\nb\xC3\xA4\xFFx\n")); }),
               Contains("a.txt' line 2 ") && Contains("byte 4") && Contains("0xff"));
    CHECK_THAT(error_of([&] { read_lines(folder.write("a.txt", "good\n\xE2\x82")); }), Contains("line 2 "));
}

TEST_CASE("errors call standard input by its name", "[lines]") {
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

TEST_CASE("a gzip file that is truncated or damaged is rejected", "[lines]") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text += std::to_string(i * i * 7919) + "\n";
    }
    const std::string packed = gzip(text, folder.file("a.gz"));
    for (std::size_t size = 20; size < packed.size(); ++size) {
        const std::string path = folder.write("cut.gz", packed.substr(0, size));
        CHECK_THAT(error_of([&] { read_lines(path); }), Contains("cut.gz") && Contains("download it again"));
    }
    std::string damaged = packed;
    damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // in the checksum
    CHECK_THAT(error_of([&] { read_lines(folder.write("bad.gz", damaged)); }), Contains("bad.gz"));
}

TEST_CASE("zstd is detected by its content", "[lines]") {
    const TemporaryFolder folder;
    CHECK(read_lines(folder.write("a.zst", zstd("x\ny\n"))) == Lines{"x", "y"});
    CHECK(read_lines(folder.write("two", zstd("x\ny") + zstd("z\n"))) == Lines{"x", "yz"});
    CHECK(read_lines(folder.write("empty", zstd(""))).empty());
    const std::string large(3'000'000, 'a');
    CHECK(read_lines(folder.write("large", zstd(large + "\n" + large))) == Lines{large, large});
    CHECK(read_lines(folder.write("short", "(")) == Lines{"("});  // the first byte of a zstd file
}

TEST_CASE("a zstd file that is truncated, damaged or followed by other data is rejected", "[lines]") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text += std::to_string(i * i * 7919) + "\n";
    }
    const std::string packed = zstd(text);
    for (std::size_t size = 4; size < packed.size(); ++size) {
        const std::string path = folder.write("cut.zst", packed.substr(0, size));
        CHECK_THAT(error_of([&] { read_lines(path); }), Contains("cut.zst") && Contains("download it again"));
    }
    CHECK_THAT(error_of([&] { read_lines(folder.write("more.zst", packed + "more")); }), Contains("more.zst"));
    CHECK_THAT(error_of([&] { read_lines(folder.write("more.gz", gzip("x\n", folder.file("a.gz")) + "more")); }),
               Contains("more.gz") && Contains("download it again"));
}

TEST_CASE("lines are counted, and next_bytes() accepts any bytes", "[lines]") {
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

TEST_CASE("xz and bzip2 are detected by their content", "[lines]") {
    const TemporaryFolder folder;
    for (const auto packed : {xz, bzip2}) {
        INFO((packed == xz ? "xz" : "bzip2"));
        const std::string text = packed("x\ny\n");
        CHECK(read_lines(folder.write("a", text)) == Lines{"x", "y"});
        CHECK(read_lines(folder.write("two", text + text)) == Lines{"x", "y", "x", "y"});
        CHECK(read_lines(folder.write("padded", text + std::string(1000, '\0'))) == Lines{"x", "y"});
        CHECK(read_lines(folder.write("empty", packed(""))).empty());
        const std::string large(3'000'000, 'a');
        CHECK(read_lines(folder.write("large", packed(large + "\n" + large))) == Lines{large, large});
        CHECK_THAT(error_of([&] { read_lines(folder.write("more", text + "more")); }), Contains("more"));
        for (std::size_t size = 10; size < text.size(); ++size) {
            CHECK_THAT(error_of([&] { read_lines(folder.write("cut", text.substr(0, size))); }),
                       Contains("cut'") && Contains("download it again"));
        }
        std::string damaged = text;
        damaged[text.size() / 2] = static_cast<char>(damaged[text.size() / 2] ^ 0x55);
        CHECK_THAT(error_of([&] { read_lines(folder.write("bad", damaged)); }), Contains("download it again"));
    }
}

TEST_CASE("only zero padding may follow compressed text", "[lines]") {
    const TemporaryFolder folder;
    for (const std::string& packed : {gzip("x\n", folder.file("a.gz")), zstd("x\n")}) {
        for (const std::size_t zeros : {1U, 3U, 511U, 70'000U, 200'000U}) {
            const std::string padding(zeros, '\0');
            CHECK(read_lines(folder.write("padded", packed + padding)) == Lines{"x"});
            CHECK(read_lines(folder.write("between", packed + padding + packed)) == Lines{"x", "x"});
            CHECK_THAT(error_of([&] { read_lines(folder.write("more", packed + padding + "more")); }),
                       Contains("more'") && Contains("download it again"));
        }
    }
    const std::string packed = gzip("some text\n", folder.file("a.gz"));
    for (std::size_t size = 11; size + 8 < packed.size(); ++size) {
        CHECK_THAT(error_of([&] { read_lines(folder.write("cut", packed.substr(0, size) + std::string(99, '\0'))); }),
                   Contains("cut'"));
    }
}

TEST_CASE("other formats are detected by their first bytes and named", "[lines]") {
    const TemporaryFolder folder;
    using std::string_literals::operator""s;
    const std::vector<std::pair<std::string, std::string>> files{
        {"\xff\xfeH\0i\0\n\0"s, "UTF-16"},
        {"\xfe\xff\0H\0i\0\n"s, "UTF-16"},
        {"H\0i\0\n\0"s, "UTF-16"},
        {"\0H\0i\0\n"s, "UTF-16"},
        {"\xff\xfe"s, "UTF-16"},
        {"\x60\x4f\x7d\x59\n\0"s, "UTF-16"},
        {"\x4f\x60\x59\x7d\0\n"s, "UTF-16"},
        {"\0\x4e\x0a\x4e\x87\x65 \0\x60\x4f\n\0"s, "UTF-16"},
        {"\x4e\0\x4e\x0a\x65\x87\0 \x4f\x60\0\n"s, "UTF-16"},
        {"\x1f\x04\x40\x04 \0\x0a\x04\x37\x04\r\0"s, "UTF-16"},
        {"\x04\x1f\x04\x40\0 \x04\x0a\x04\x37\0\r"s, "UTF-16"},
        {"a\0\n\0b\0\n\0"s, "UTF-16"},
        {"H\0\0\0i\0\0\0"s, "UTF-32"},
        {"\0\0\0H\0\0\0i"s, "UTF-32"},
        {"\x60\x4f\0\0\n\0\0\0\0\xf6\1\0"s, "UTF-32"},
        {"\0\0\x4f\x60\0\0\0\n\0\1\xf6\0"s, "UTF-32"},
        {"\xff\xfe\0\0H\0\0\0"s, "UTF-32"},
        {"\0\0\xfe\xff\0\0\0H"s, "UTF-32"},
        {"PK\3\4and so on"s, "ZIP archive"},
        {"PK\5\6and so on"s, "ZIP archive"},
        {"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"s, "PDF document"},
        {"{\\rtf1\\ansi}"s, "RTF document"},
        {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old"s, "office document"},
        {"7z\xbc\xaf\x27\x1c\0\4"s, "7z archive"},
        {"Rar!\x1a\x07\x01"s, "RAR archive"},
        {"\x1f\x9d\x90 old"s, "compress"},
        {"\x04\x22\x4d\x18more"s, "LZ4"},
        {"LZIP\1\x0c"s, "lzip"},
        {"name" + std::string(253, '\0') + "ustar\0"s + std::string(250, '\0'), "tar archive"},
    };
    for (const auto& [bytes, name] : files) {
        INFO(name);
        const std::string path = folder.write("in", bytes);
        CHECK_THAT(error_of([&] { read_lines(path); }), Contains("'" + path + "' is ") && Contains(name));
        folder.write("in", zstd(bytes));
        CHECK_THAT(error_of([&] { read_lines(path); }), Contains("compressed and contains") && Contains(name));
    }
    CHECK_THAT(error_of([&] { read_lines(folder.write("in", zstd(zstd("x\n")))); }), Contains("packed by zstd"));
    for (const std::string& text :
         {"a\0b\n"s, "ab \0c d\n"s, "ab\n\0cd\ne\n"s, "\xc3\xa4 \0ab\n"s, "abc\0"s, "\0\0\0\0\0\0\0\0"s}) {
        CHECK_FALSE(read_lines(folder.write("text", text)).empty());
    }
    for (const char* text : {"P", "PK", "%PDF", "7z", "BZh", "BZh9", "Rar", "{\\", "PK.\n", "%PDF 1", "\xc3\xa4"}) {
        CHECK(read_lines(folder.write("text", text)).size() == 1);
        CHECK(read_lines(folder.write("text", zstd(text))).size() == 1);
    }
}

TEST_CASE("a byte order mark at the beginning is removed and reported", "[lines]") {
    const TemporaryFolder folder;
    const std::string mark = "\xef\xbb\xbf";
    const auto marked = [&](const std::string& bytes) {
        LineReader reader(folder.write("a", bytes));
        for (std::string line; reader.next(line);) {
        }
        return reader.had_byte_order_mark();
    };
    for (const std::string& text : {mark + "x\n" + mark + "y\n", zstd(mark + "x\n" + mark + "y\n")}) {
        CHECK(read_lines(folder.write("a", text)) == Lines{"x", mark + "y"});
        CHECK(marked(text));
    }
    for (const std::string& text : {mark, zstd(mark)}) {
        CHECK(read_lines(folder.write("a", text)).empty());
        CHECK(marked(text));
    }
    CHECK(read_lines(folder.write("a", mark + "\n")) == Lines{""});
    Lines reported;
    on_byte_order_mark([&](const std::string& name) { reported.push_back(name); });
    for (const std::string& path :
         {folder.write("b", mark + "x\n"), folder.write("c", zstd(mark)), folder.write("d", "x")}) {
        read_lines(path);
        read_lines(path);
    }
    CHECK(without_byte_order_mark(mark + mark, "--prefix") == mark);
    on_byte_order_mark({});
    CHECK(reported == Lines{"'" + folder.file("b") + "'", "'" + folder.file("c") + "'", "--prefix"});
    CHECK_FALSE(marked("x" + mark + "\n"));
    CHECK_FALSE(marked(""));
    CHECK_THAT(error_of([&] { read_lines(folder.write("a", mark.substr(0, 2))); }), Contains("not UTF-8"));
}

#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include <zstd.h>
#include <catch2/catch.hpp>

#include "infer/line_source.h"
#include "support/check.h"

using namespace headscope;

namespace {

// Both ends of a pipe, closed in the destructor.
class Pipe {
public:
    Pipe() { REQUIRE(::pipe(ends_.data()) == 0); }
    ~Pipe() {
        close_writer();
        ::close(ends_[0]);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int reader() const { return ends_[0]; }
    void write(const std::string& text) {
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t count = ::write(ends_[1], text.data() + done, text.size() - done);
            REQUIRE(count > 0);
            done += static_cast<std::size_t>(count);
        }
    }
    void close_writer() {
        if (ends_[1] >= 0) {
            ::close(ends_[1]);
            ends_[1] = -1;
        }
    }

private:
    std::array<int, 2> ends_{-1, -1};
};

std::vector<std::string> texts(const std::vector<InputLine>& lines) {
    std::vector<std::string> result;
    for (const InputLine& line : lines) {
        result.push_back(line.text);
    }
    return result;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a window contains the available lines and does not wait for more") {
    Pipe pipe;
    LineSource source(pipe.reader(), "standard input");
    pipe.write("one\ntwo\nthr");
    CHECK(texts(source.next_window(10)) == Lines{"one", "two"});
    pipe.write("ee\n");
    CHECK(texts(source.next_window(10)) == Lines{"three"});
    pipe.write("\n\nsix\r\nlast");
    CHECK(texts(source.next_window(10)) == Lines{"", "", "six\r"});
    pipe.close_writer();
    CHECK(texts(source.next_window(10)) == Lines{"last"});
    CHECK(source.next_window(10).empty());
    CHECK(source.next_window(10).empty());
}

TEST_CASE("windows keep the order and the requested maximum of lines") {
    Pipe pipe;
    LineSource source(pipe.reader(), "standard input");
    pipe.write("1\n2\n3\n4\n5\n");
    pipe.close_writer();
    CHECK(texts(source.next_window(2)) == Lines{"1", "2"});
    CHECK(texts(source.next_window(2)) == Lines{"3", "4"});
    CHECK(texts(source.next_window(2)) == Lines{"5"});
    CHECK(source.next_window(2).empty());
}

TEST_CASE("an empty input has no lines, and a final LF adds none") {
    Pipe pipe;
    LineSource source(pipe.reader(), "standard input");
    SECTION("nothing") {
        pipe.close_writer();
        CHECK(source.next_window(10).empty());
    }
    SECTION("one") {
        pipe.write("only\n");
        pipe.close_writer();
        CHECK(texts(source.next_window(10)) == Lines{"only"});
        CHECK(source.next_window(10).empty());
    }
}

TEST_CASE("an endless line takes bounded memory and is marked") {
    Pipe pipe;
    LineSource source(pipe.reader(), "standard input");
    const std::size_t excess = 3U << 20U;
    std::thread writer([&] {
        pipe.write(std::string(LineSource::kLongestLine, 'a') + "\n");
        pipe.write(std::string(LineSource::kLongestLine + excess, 'b') + "\nshort\n");
        pipe.close_writer();
    });
    std::vector<InputLine> lines;
    for (auto window = source.next_window(2); !window.empty(); window = source.next_window(2)) {
        lines.insert(lines.end(), window.begin(), window.end());
    }
    writer.join();
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].excess == 0);
    CHECK(lines[0].text == std::string(LineSource::kLongestLine, 'a'));
    CHECK(lines[1].excess == excess);
    CHECK(lines[1].text.size() == LineSource::kLongestLine);
    CHECK(lines[2].text == "short");
    CHECK(lines[2].excess == 0);
}

TEST_CASE("a window of long lines stays small") {
    Pipe pipe;
    LineSource source(pipe.reader(), "standard input");
    constexpr std::size_t kLines = 20;
    const std::string line(200'000, 'x');
    std::thread writer([&] {
        for (std::size_t i = 0; i < kLines; ++i) {
            pipe.write(line + "\n");
        }
        pipe.close_writer();
    });
    std::size_t lines = 0;
    std::size_t most_bytes = 0;
    for (auto window = source.next_window(1000); !window.empty(); window = source.next_window(1000)) {
        lines += window.size();
        most_bytes = std::max(most_bytes, window.size() * line.size());
    }
    writer.join();
    CHECK(lines == kLines);
    CHECK(most_bytes <= LineSource::kWindowBytes + LineSource::kLongestLine);
}

namespace {

// Of gzip: "ab", LF, "c"
constexpr std::string_view kPacked(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x4c\xe2\x4a\x06\x00\x5c\x88\xd9\xc7\x04\x00\x00\x00", 24);

// Compressed by zstd up to a flush after `text`; more may follow.
std::string flushed(const std::string& text) {
    ZSTD_CStream* const stream = ::ZSTD_createCStream();
    std::string result(::ZSTD_compressBound(text.size()), '\0');
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    ZSTD_outBuffer out{result.data(), result.size(), 0};
    REQUIRE(::ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush) == 0);
    ::ZSTD_freeCStream(stream);
    result.resize(out.pos);
    return result;
}

}  // namespace

TEST_CASE("compressed lines are returned as soon as they are available") {
    Pipe pipe;
    LineSource source(pipe.reader(), "standard input");
    const std::size_t count = GENERATE(200'000, std::size_t{1} << 17U);  // two buffers, and exactly one
    pipe.write(flushed(std::string(count, '\n')));
    CHECK(source.next_window(300'000).size() == count);  // the writer writes no more
    pipe.close_writer();
    CHECK_THROWS_WITH(source.next_window(1), Catch::Matchers::Contains("ends inside a stream"));
}

TEST_CASE("lines before damaged data are returned, then the error is thrown") {
    Pipe pipe;
    LineSource source(pipe.reader(), "standard input");
    pipe.write(std::string(kPacked) + std::string(kPacked) + "what is no stream");
    pipe.close_writer();
    CHECK(texts(source.next_window(10)) == Lines{"ab", "cab"});
    CHECK_THROWS_WITH(source.next_window(10), Catch::Matchers::Contains("cannot unpack standard input"));
    CHECK_THROWS_WITH(source.next_window(10), Catch::Matchers::Contains("cannot unpack standard input"));
}

TEST_CASE("compressed text may arrive byte by byte") {
    Pipe pipe;
    LineSource source(pipe.reader(), "standard input");
    std::thread writer([&] {
        for (const char byte : kPacked) {
            pipe.write(std::string(1, byte));
        }
        pipe.close_writer();
    });
    Lines lines;
    for (auto window = source.next_window(2); !window.empty(); window = source.next_window(2)) {
        const Lines next = texts(window);
        lines.insert(lines.end(), next.begin(), next.end());
    }
    writer.join();
    CHECK(lines == Lines{"ab", "c"});
}

TEST_CASE("text that begins like a compressed file is text") {
    Pipe pipe;
    LineSource source(pipe.reader(), "standard input");
    pipe.write("(");  // the first byte of zstd
    pipe.write("a\nb\n");
    CHECK(texts(source.next_window(1)) == Lines{"(a"});
    CHECK(texts(source.next_window(10)) == Lines{"b"});
}

TEST_CASE("the error for an unreadable input contains its name") {
    LineSource source(-1, "'some file'");
    CHECK_THROWS_WITH(source.next_window(1), Catch::Matchers::Contains("'some file'"));
}

// Any bytes as a file of lines: as they are (plain text, or a gzip stream that was tampered with); packed by zlib,
// whole, in two streams and cut short. What is packed gives the lines of what is plain, and what is cut short gives
// none.
#include <algorithm>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/gzip.h"
#include "text/lines.h"
#include "text/utf8.h"

using namespace headscope;

namespace {

struct Outcome {
    bool refused = false;
    std::vector<std::string> lines = {};
};

Outcome lines_of(std::string_view bytes) {
    const MemoryFile file(bytes);
    try {
        return {.lines = read_lines(file.path())};
    } catch (const Error&) {
        return {.refused = true};
    }
}

// What read_lines promises, in other words.
Outcome expected_lines(std::string_view text) {
    Outcome expected;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        expected.lines.emplace_back(text.substr(0, end));
        expected.refused = expected.refused || first_invalid_utf8(expected.lines.back()).has_value();
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return expected;
}

void check_packed(std::string_view packed, const Outcome& expected) {
    const Outcome found = lines_of(packed);
    HEADSCOPE_CHECK(found.refused == expected.refused,
                    "packed text is refused where plain text is not, or the other way");
    HEADSCOPE_CHECK(found.refused || found.lines == expected.lines, "packed text gives other lines");
}

}  // namespace

std::vector<std::string> headscope::fuzz_seeds() {
    const std::string text = "one\n\ntwo\r\n\u0085f\u00fcnf \U0001F600\nlast";
    std::string long_line(200000, 'x');
    long_line[100000] = '\n';
    return {text, gzip(text), gzip(text) + gzip(text), gzip(text) + "behind", gzip(""), gzip(long_line), "\xff\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = as_text(data, size);
    const Outcome raw = lines_of(bytes);
    for (const std::string& line : raw.lines) {
        HEADSCOPE_CHECK(!first_invalid_utf8(line) && line.find('\n') == std::string::npos, "a line that is none");
    }
    const Outcome expected = expected_lines(bytes);
    const std::string packed = gzip(bytes);
    check_packed(packed, expected);
    // The input says where to cut.
    const std::size_t at = size == 0 ? 0 : (data[0] * 257U + data[size - 1]) % size;
    check_packed(gzip(bytes.substr(0, at)) + gzip(bytes.substr(at)), expected);
    constexpr std::size_t kMagic = 2;  // with fewer bytes it is not known as gzip
    HEADSCOPE_CHECK(lines_of(std::string_view(packed).substr(0, kMagic + at % (packed.size() - kMagic))).refused,
                    "a stream that was cut short passes for whole");
    return 0;
}

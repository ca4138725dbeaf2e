// Any bytes as a file of lines: as they are (plain text, or a packed stream that was tampered with); packed by zlib and
// by zstd, whole, in two streams and cut short. What is packed gives the lines of what is plain. What is cut short
// gives none where a file is read whole, and where lines are taken as they come, those before the cut.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "infer/line_source.h"
#include "io/byte_order_mark.h"
#include "io/file_kind.h"
#include "support/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/gzip.h"
#include "tests/fuzz/zstd.h"
#include "text/lines.h"

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

// As `translate` takes them, of any bytes.
Outcome windows_of(std::string_view bytes) {
    constexpr std::size_t kWindow = 3;
    const MemoryFile file(bytes);
    const int descriptor = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
    HEADSCOPE_CHECK(descriptor >= 0, "a memory file can be read");
    Outcome outcome;
    try {
        LineSource source(descriptor, "input");
        for (auto window = source.next_window(kWindow); !window.empty(); window = source.next_window(kWindow)) {
            HEADSCOPE_CHECK(window.size() <= kWindow, "a window of more lines than were asked for");
            std::transform(window.begin(), window.end(), std::back_inserter(outcome.lines),
                           [](const InputLine& line) { return line.text; });
        }
    } catch (const Error&) {
        outcome.refused = true;
    }
    ::close(descriptor);
    return outcome;
}

// What read_lines promises, in other words.
Outcome expected_lines(std::string_view text) {
    Outcome expected;
    text = without_byte_order_mark(text, "");
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
    const Outcome windows = windows_of(packed);
    HEADSCOPE_CHECK(!windows.refused && windows.lines == expected.lines, "in windows it gives other lines");
}

struct Format {
    std::string (*pack)(std::string_view text);
    std::size_t magic;  // bytes; with fewer it is not known as packed
};
constexpr Format kFormats[] = {{gzip, 2}, {zstd, 4}};

}  // namespace

std::vector<std::string> headscope::fuzz_seeds() {
    const std::string text = "one\n\ntwo\r\n\u0085f\u00fcnf \U0001F600\nlast";
    std::string long_line(200000, 'x');
    long_line[100000] = '\n';
    std::vector<std::string> seeds{text, "\xff\n"};
    for (const Format& format : kFormats) {
        const std::string packed = format.pack(text);
        for (const std::string& seed :
             {packed, packed + packed, packed + "behind", format.pack(""), format.pack(long_line)}) {
            seeds.push_back(seed);
        }
    }
    return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = as_text(data, size);
    const Outcome raw = lines_of(bytes);
    for (const std::string& line : raw.lines) {
        HEADSCOPE_CHECK(!first_invalid_utf8(line) && line.find('\n') == std::string::npos, "a line that is none");
    }
    if (kind_of(bytes).kind != FileKind::Text) {
        return 0;  // packed, it is refused as what it is
    }
    const Outcome expected = expected_lines(bytes);
    // The input says where to cut.
    const std::size_t at = size == 0 ? 0 : (data[0] * 257U + data[size - 1]) % size;
    for (const auto& [pack, magic] : kFormats) {
        const std::string packed = pack(bytes);
        check_packed(packed, expected);
        check_packed(pack(bytes.substr(0, at)) + pack(bytes.substr(at)), expected);
        const std::string_view cut = std::string_view(packed).substr(0, magic + at % (packed.size() - magic));
        HEADSCOPE_CHECK(lines_of(cut).refused, "a stream that was cut short passes for whole");
        const Outcome before = windows_of(cut);
        HEADSCOPE_CHECK(before.refused && before.lines.size() <= expected.lines.size() &&
                            std::equal(before.lines.begin(), before.lines.end(), expected.lines.begin()),
                        "a stream that was cut short gives other lines than stood before the cut");
    }
    return 0;
}

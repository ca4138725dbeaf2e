#include "random_script.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "support/random.h"

namespace headscope::test {

namespace {

constexpr const char* kKeys[] = {"Tab",         "Enter",      "Escape",     "Space",
                                 "Backspace",   "Delete",     "Left",       "Right",
                                 "Up",          "Down",       "Home",       "End",
                                 "PageUp",      "PageDown",   "Plus",       "Minus",
                                 "Comma",       "Period",     "Slash",      "F1",
                                 "F11",         "Ctrl+A",     "Ctrl+X",     "Ctrl+V",
                                 "Ctrl+Z",      "Ctrl+Y",     "Ctrl+L",     "Ctrl+T",
                                 "Ctrl+P",      "Ctrl+O",     "Ctrl+E",     "Ctrl+S",
                                 "Ctrl+D",      "Ctrl+Plus",  "Ctrl+Minus", "Ctrl+0",
                                 "Ctrl+Comma",  "Shift+Left", "B",          "Shift+B",
                                 "Shift+Right", "Alt+Left",   "Alt+Right",  "Shift+Period",
                                 "Shift+Comma", "Tab",        "F6",         "F10",
                                 "Ctrl+F",      "Ctrl+G",     "Ctrl+I",     "Ctrl+J",
                                 "A",           "C",          "D",          "E",
                                 "F",           "G",          "I",          "K",
                                 "L",           "M",          "N",          "O",
                                 "P",           "R",          "S",          "U",
                                 "W",           "X",          "1",          "2",
                                 "5",           "8",          "9",          "0",
                                 "Shift+2",     "Shift+8",    "Ctrl+1",     "Ctrl+2",
                                 "Ctrl+3",      "Ctrl+4",     "Ctrl+5",     "Ctrl+6",
                                 "Ctrl+7",      "Ctrl+8"};
constexpr const char* kTexts[] = {"the small dog",
                                  "[MASK]",
                                  " [MASK] [SEP] the [MASK]",
                                  "##",
                                  "%s%n{}",
                                  "\u00E4\u0301\u200D\uFE0F",
                                  "\U0001F642\U0001F468\u200D\U0001F469",
                                  "\u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627",
                                  "\u4F60\u597D",
                                  "\u2028\u00A0\uFEFF",
                                  "1234567",
                                  ".",
                                  "(S (NP )",
                                  "a. b! c? A sentence. Another one, which is longer. And a third."};

class Writer {
public:
    Writer(std::uint64_t seed, const std::vector<std::string>& files) : random_(seed), files_(files) {}

    std::string event() {
        switch (below(20)) {
            case 0:
            case 1:
            case 2:
            case 3: return fmt::format("click {}", item());
            case 4: return fmt::format("double {}", item());
            case 5: return fmt::format("{} {}", below(2) == 0 ? "right" : "point", item());
            case 6: return fmt::format("drag {} {} {}", item(), across(400), across(400));
            case 7: return fmt::format("wheel {}{} {}", below(2) == 0 ? "Ctrl " : "", item(), across(9));
            case 8: return fmt::format("move {} {}\ndown {}\nup {}", below(1600), below(1000), 0, 0);
            case 9: return fmt::format("scroll {} {}", across(5), across(20));
            case 10:
            case 11:
            case 12: return fmt::format("key {}", one_of(kKeys));
            case 13:
            case 14: return fmt::format("type {}", one_of(kTexts));
            case 15:
            case 16: return fmt::format("command #{}", below(1000));
            case 17: return fmt::format("size {} {}", 300 + below(1600), 200 + below(1000));
            case 18:
                return files_.empty()
                           ? "wait"
                           : fmt::format("drop {}", files_[static_cast<std::size_t>(below(std::ssize(files_)))]);
            default: return below(2) == 0 ? "wait" : fmt::format("frames {}", below(8));
        }
    }

private:
    std::int64_t below(std::int64_t most) {
        return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most)));
    }
    std::int64_t across(std::int64_t most) { return below(2 * most + 1) - most; }
    std::string item() { return fmt::format("#{}", below(1'000'000)); }
    template <std::size_t N>
    const char* one_of(const char* const (&choices)[N]) {
        return choices[below(static_cast<std::int64_t>(N))];
    }

    Random random_;
    const std::vector<std::string>& files_;
};

}  // namespace

std::string random_script(std::uint64_t seed, int events, const std::vector<std::string>& files) {
    Writer writer(seed, files);
    std::string script = seed % 2 == 0 ? "wait\n" : "frames 2\n";  // with a model, or while it opens
    for (int event = 0; event < events; ++event) {
        script += writer.event() + "\n";
    }
    return script + "wait\nframes 2\nquit\n";
}

}  // namespace headscope::test

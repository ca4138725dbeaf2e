#include "text/oniguruma.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

namespace {

// What an escaped letter stands for, alone and in a set. Without a second text, it cannot be in one.
struct Escape {
    char letter;
    const char* alone;
    const char* in_set;
};

// Letters that mean the same in both have themselves. PCRE2's \s has U+180E, its \w and \v are other sets. Oniguruma's
// \w has the numbers of Latin-1 that are no digits, but not in a set.
constexpr std::array kEscapes = {
    Escape{'s', R"(\p{White_Space})", R"(\p{White_Space})"},
    Escape{'S', R"(\P{White_Space})", R"(\P{White_Space})"},
    Escape{'w', R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be}])",
           R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})"},
    Escape{'W', R"([^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be}])", nullptr},
    Escape{'d', R"(\d)", R"(\d)"},
    Escape{'D', R"(\D)", R"(\D)"},
    Escape{'v', R"(\x{b})", R"(\x{b})"},
    Escape{'n', R"(\n)", R"(\n)"},
    Escape{'r', R"(\r)", R"(\r)"},
    Escape{'t', R"(\t)", R"(\t)"},
    Escape{'f', R"(\f)", R"(\f)"},
    Escape{'A', R"(\A)", nullptr},
    Escape{'z', R"(\z)", nullptr}};

// Those that groups may begin with.
constexpr std::array<std::string_view, 7> kGroups = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"};

class Translation {
public:
    Translation(std::string_view pattern, const std::string& place) : rest_(pattern), place_(place) {}

    std::string run() {
        while (!rest_.empty()) {
            switch (rest_.front()) {
                case '\\': escape(false); break;
                case '[': set(); break;
                case '(': group(); break;
                case '{': repetition(); break;
                default: copy(1);
            }
        }
        return std::move(result_);
    }

private:
    [[noreturn]] void reject(std::string_view part) const {
        throw Error(fmt::format("{} holds '{}', which is not supported in regular expressions", place_, part));
    }

    void copy(std::size_t count) {
        result_ += rest_.substr(0, count);
        rest_.remove_prefix(count);
    }

    void escape(bool in_set) {
        const char letter = rest_.size() > 1 ? rest_[1] : '\0';
        if (letter == 'p' || letter == 'P') {
            property();
            return;
        }
        if (letter == 'x' && rest_.substr(2).starts_with('{')) {
            copy(2);
            copy(rest_.find('}') == std::string_view::npos ? rest_.size() : rest_.find('}') + 1);
            return;
        }
        if (static_cast<unsigned char>(letter) >= 0x80 || std::ispunct(static_cast<unsigned char>(letter)) != 0 ||
            letter == ' ') {
            copy(2);
            return;
        }
        for (const Escape& known : kEscapes) {
            const char* meaning = in_set ? known.in_set : known.alone;
            if (known.letter == letter && meaning != nullptr) {
                result_ += meaning;
                rest_.remove_prefix(2);
                return;
            }
        }
        reject(rest_.substr(0, 2));
    }

    // Longer names than those of general categories are scripts: PCRE2 would add characters that a script shares.
    void property() {
        const std::size_t end = rest_.find('}');
        if (rest_.size() < 3 || rest_[2] != '{' || end == std::string_view::npos) {
            reject(rest_.substr(0, 2));
        }
        std::string_view name = rest_.substr(3, end - 3);
        const bool negated = name.starts_with('^');
        name.remove_prefix(negated ? 1 : 0);
        result_ +=
            fmt::format("{}{{{}{}{}}}", rest_.substr(0, 2), negated ? "^" : "", name.size() > 2 ? "sc:" : "", name);
        rest_.remove_prefix(end + 1);
    }

    void set() {
        copy(rest_.starts_with("[^") ? 2 : 1);
        if (rest_.starts_with(']')) {
            copy(1);
        }
        while (!rest_.empty() && rest_.front() != ']') {
            if (rest_.starts_with("&&") || rest_.front() == '[') {
                reject(rest_.substr(0, 2));
            }
            if (rest_.front() == '\\') {
                escape(true);
            } else {
                copy(1);
            }
        }
        copy(rest_.empty() ? 0 : 1);
    }

    void group() {
        if (!rest_.starts_with("(?")) {
            copy(1);
            return;
        }
        for (const std::string_view known : kGroups) {
            if (rest_.starts_with(known)) {
                copy(known.size());
                return;
            }
        }
        reject(rest_.substr(0, 3));
    }

    // {,3} is {0,3} in Oniguruma, {1,3}+ repeats it, and {3}? is {0,3} in steps of 3.
    void repetition() {
        const std::size_t end = std::min(rest_.find('}'), rest_.size());
        const std::string_view after = rest_.substr(std::min(end + 1, rest_.size()));
        const bool exact = rest_.find(',') > end;
        if (rest_.starts_with("{,") || after.starts_with('+') || (exact && after.starts_with('?'))) {
            reject(rest_.substr(0, end + 2));
        }
        copy(1);
    }

    std::string_view rest_;
    const std::string& place_;
    std::string result_;
};

}  // namespace

std::string pcre2_pattern(std::string_view oniguruma, const std::string& place) {
    return Translation(oniguruma, place).run();
}

}  // namespace headscope

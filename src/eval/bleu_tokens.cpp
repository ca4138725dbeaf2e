#include <algorithm>
#include <utility>

#include "eval/bleu.h"

namespace headscope {

namespace {

bool digit(char byte) {
    return byte >= '0' && byte <= '9';
}
bool stop(char byte) {
    return byte == '.' || byte == ',';
}

// ASCII marks that stand alone; an apostrophe, a comma, a full stop and a hyphen are left to the rules that look
// around.
bool mark(char byte) {
    return (byte >= '!' && byte <= '&') || (byte >= '(' && byte <= '+') || byte == '/' ||
           (byte >= ':' && byte <= '@') || (byte >= '[' && byte <= '`') || (byte >= '{' && byte <= '~');
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    std::size_t at = text.find(from);
    while (at != std::string::npos) {
        text.replace(at, from.size(), to);
        at = text.find(from, at + to.size());
    }
}

// Scans from left to right: where two neighbours match, `write` puts both and the scan goes on behind them. Bytes will
// do for characters, since every byte of a longer character is as little a digit or a stop as the character itself.
template <class Match, class Write>
std::string rewrite_neighbours(const std::string& text, Match match, Write write) {
    std::string out;
    out.reserve(text.size() + text.size() / 4);
    std::size_t at = 0;
    while (at < text.size()) {
        if (at + 1 < text.size() && match(text[at], text[at + 1])) {
            write(out, text[at], text[at + 1]);
            at += 2;
        } else {
            out.push_back(text[at]);
            at += 1;
        }
    }
    return out;
}

// Length of the white space that begins at `at`, 0 for none: Unicode's, and the ASCII separators 1C to 1F.
std::size_t white_space(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == ' ' || (byte >= 0x09 && byte <= 0x0d) || (byte >= 0x1c && byte <= 0x1f)) {
        return 1;
    }
    const std::string_view two = text.substr(at, 2);
    if (two == "\xC2\x85" || two == "\xC2\xA0") {
        return 2;
    }
    const std::string_view three = text.substr(at, 3);
    const bool wide = three >= "\xE2\x80\x80" && three <= "\xE2\x80\x8A";  // U+2000 to U+200A
    const auto is = [&](const char* space) { return three == space; };
    return wide || is("\xE1\x9A\x80") || is("\xE2\x80\xA8") || is("\xE2\x80\xA9") || is("\xE2\x80\xAF") ||
                   is("\xE2\x81\x9F") || is("\xE3\x80\x80")
               ? 3
               : 0;
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t space = white_space(text, at);
        if (space == 0) {
            word.push_back(text[at++]);
            continue;
        }
        at += space;
        if (!word.empty()) {
            words.push_back(std::exchange(word, {}));
        }
    }
    if (!word.empty()) {
        words.push_back(std::move(word));
    }
    return words;
}

}  // namespace

std::vector<std::string> tokenize_13a(std::string_view line) {
    std::string text(line);
    // White space at the end goes before anything else, so that a hyphen there joins nothing.
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t space = white_space(text, at);
        at += std::max<std::size_t>(space, 1);
        end = space == 0 ? at : end;
    }
    text.resize(end);
    replace_all(text, "<skipped>", "");
    replace_all(text, "-\n", "");
    replace_all(text, "\n", " ");
    replace_all(text, "&quot;", "\"");
    replace_all(text, "&amp;", "&");
    replace_all(text, "&lt;", "<");
    replace_all(text, "&gt;", ">");

    std::string marked = " ";
    for (const char byte : text) {
        if (mark(byte)) {
            marked += {' ', byte, ' '};
        } else {
            marked.push_back(byte);
        }
    }
    marked.push_back(' ');
    // A stop is a token of its own unless it stands between digits; a hyphen is one behind a digit.
    marked = rewrite_neighbours(
        marked, [](char a, char b) { return !digit(a) && stop(b); },
        [](std::string& out, char a, char b) {
            out += {a, ' ', b, ' '};
        });
    marked = rewrite_neighbours(
        marked, [](char a, char b) { return stop(a) && !digit(b); },
        [](std::string& out, char a, char b) {
            out += {' ', a, ' ', b};
        });
    marked = rewrite_neighbours(
        marked, [](char a, char b) { return digit(a) && b == '-'; },
        [](std::string& out, char a, char b) {
            out += {a, ' ', b, ' '};
        });
    return split(marked);
}

}  // namespace headscope

#include "eval/bleu.h"
#include "eval/white_space.h"

namespace headscope {

namespace {

bool digit(char byte) {
    return byte >= '0' && byte <= '9';
}
bool stop(char byte) {
    return byte == '.' || byte == ',';
}

// ASCII marks that are always separate tokens; apostrophe, comma, full stop and hyphen depend on their context.
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

// Scans from left to right: if two neighbours match, `write` writes both and the scan continues after them. Bytes work
// as characters, because no byte of a multi-byte character is a digit or a stop.
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

}  // namespace

std::vector<std::string> split_compounds(const std::vector<std::string>& tokens) {
    std::vector<std::string> parts;
    for (const std::string& token : tokens) {
        std::size_t begin = 0;
        for (std::size_t at = 0; at + 2 < token.size();) {
            if (token[at + 1] == '-') {
                parts.push_back(token.substr(begin, at + 1 - begin));
                parts.emplace_back("##AT##-##AT##");
                begin = at + 2;
                at += 3;
            } else {
                ++at;
            }
        }
        parts.push_back(token.substr(begin));
    }
    return parts;
}

std::vector<std::string> tokenize_13a(std::string_view line) {
    std::string text(line);
    // Trailing white space is removed first, so that a hyphen there does not join lines.
    text.resize(without_end_space(text).size());
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
    // A stop is a separate token unless it is between digits; a hyphen is one after a digit.
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
    return split_words(marked);
}

}  // namespace headscope

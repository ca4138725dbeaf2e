// What only headscope translate asks of a search: lists, prefixes and chance.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/translate/translation_flags.h"
#include "infer/translation_stream.h"

namespace CLI {
class App;
}

namespace headscope {

struct DecodingFlags {
    bool n_best = false;  // a list was asked for, be it of one
    bool sample = false;
    Sampling sampling;
    std::string prefix, prefix_file;
};

// Beside those of add_search_flags, which `command` has already and `search` goes to.
void add_decoding_flags(CLI::App& command, DecodingFlags& flags, TranslationFlags& search);

// What translations begin with, line by line.
class Prefixes {
public:
    // Reads the file. Error for a prefix of all lines that `tokenizer` has no pieces for.
    Prefixes(const DecodingFlags& flags, const Tokenizer& tokenizer);

    // Error where the file has no line for it.
    std::string of(std::int64_t line) const;
    // Error where the file has more lines than were translated.
    void check_used(std::int64_t lines) const;

private:
    std::string all_;
    std::string file_;
    std::vector<std::string> each_;
};

}  // namespace headscope

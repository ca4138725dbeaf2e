// Given beginnings of translations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace CLI {
class App;
}

namespace headscope {

struct PrefixFlags {
    std::string all, file;
};

// --prefix and --prefix-file.
void add_prefix_flags(CLI::App& command, PrefixFlags& flags);

// The prefix of each line's translation.
class Prefixes {
public:
    // Reads the file. Error if `tokenizer` cannot encode --prefix.
    Prefixes(const PrefixFlags& flags, const Tokenizer& tokenizer);

    // Error if the file has no such line.
    std::string of(std::int64_t line) const;
    // Error if the file has more lines than were translated.
    void check_used(std::int64_t lines) const;

private:
    std::string all_;
    std::string file_;
    std::vector<std::string> each_;
};

}  // namespace headscope

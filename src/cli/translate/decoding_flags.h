// Decoding options of `headscope translate` alone: n-best lists, prefixes and sampling.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/translate/translation_flags.h"
#include "infer/translation_stream.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

struct DecodingFlags {
    bool n_best = false;  // --n-best was given, even as 1
    bool sample = false;
    Sampling sampling;
    std::string prefix, prefix_file;
};

// Call after add_search_flags(); `search` is what that fills.
void add_decoding_flags(CLI::App& command, DecodingFlags& flags, TranslationFlags& search);

// --temperature and so on, which need `sample`.
void add_sampling_flags(CLI::App& command, Sampling& sampling, CLI::Option* sample);

// The prefix of each line's translation.
class Prefixes {
public:
    // Reads the file. Error if `tokenizer` cannot encode --prefix.
    Prefixes(const DecodingFlags& flags, const Tokenizer& tokenizer);

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

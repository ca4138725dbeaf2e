#include "cli/translate/decoding_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "infer/prepared_line.h"
#include "io/byte_order_mark.h"
#include "options/option_values.h"
#include "support/check.h"
#include "text/lines.h"

namespace headscope {

void add_decoding_flags(CLI::App& command, DecodingFlags& flags, TranslationFlags& search) {
    CLI::Option* beam = command.get_option("--beam");
    CLI::Option* greedy = command.get_option("--greedy");
    CLI::Option* n_best = command
                              .add_option("--n-best", search.options.search.n_best,
                                          "Write so many translations of each line, best first; at most --beam")
                              ->check(whole_number(1, SearchOptions::kMaxBeam))
                              ->excludes(greedy)
                              ->each([&flags](const std::string&) { flags.n_best = true; });
    command
        .add_flag("--n-best-duplicates", search.options.search.n_best_duplicates,
                  "Let a list hold a text several times, once for each way that it was cut into pieces")
        ->needs(n_best);
    CLI::Option* prefix = command.add_option("--prefix", flags.prefix,
                                             "Every translation begins with this text, whatever the model says");
    command
        .add_option("--prefix-file", flags.prefix_file,
                    "The same line by line: line i of this file begins the translation of line i, or is empty")
        ->excludes(prefix);
    CLI::Option* sample = command.add_flag("--sample", flags.sample, "Draw each piece by chance instead of searching")
                              ->excludes(beam)
                              ->excludes(greedy)
                              ->excludes(n_best);
    command
        .add_option("--temperature", flags.sampling.temperature,
                    "Log probabilities are divided by this before drawing: below 1 favours what is likely")
        ->check(real_number(0.0, 1e6))
        ->capture_default_str()
        ->needs(sample);
    command.add_option("--top-k", flags.sampling.top_k, "Draw from so many of the likeliest pieces; 0: all")
        ->check(whole_number(0))
        ->capture_default_str()
        ->needs(sample);
    command
        .add_option("--top-p", flags.sampling.top_p,
                    "Draw from the fewest of the likeliest pieces (of --top-k) that have this share of probability")
        ->check(real_number(0.0, 1.0))
        ->capture_default_str()
        ->needs(sample);
    command
        .add_option("--seed", flags.sampling.seed,
                    "The same seed draws the same, whatever device and batch; each line has draws of its own")
        ->check(seed_number())
        ->capture_default_str()
        ->needs(sample);
}

Prefixes::Prefixes(const DecodingFlags& flags, const Tokenizer& tokenizer)
    : all_(without_byte_order_mark(flags.prefix, "--prefix")), file_(flags.prefix_file) {
    encode_prefix(tokenizer, all_);
    if (!file_.empty()) {
        each_ = read_lines(file_);
    }
}

std::string Prefixes::of(std::int64_t line) const {
    if (file_.empty()) {
        return all_;
    }
    if (line > static_cast<std::int64_t>(each_.size())) {
        throw Error(
            fmt::format("'{}' has {} lines, and the text has more: give a line for each, empty where nothing is "
                        "to be said",
                        file_, each_.size()));
    }
    return each_[static_cast<std::size_t>(line - 1)];
}

void Prefixes::check_used(std::int64_t lines) const {
    if (static_cast<std::int64_t>(each_.size()) > lines) {
        throw Error(
            fmt::format("'{}' has {} lines, and the text has {}: all lines were translated, but the two may not "
                        "belong together",
                        file_, each_.size(), lines));
    }
}

}  // namespace headscope

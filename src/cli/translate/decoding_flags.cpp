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
    command.option_defaults()->group("Decoding");
    CLI::Option* beam = command.get_option("--beam");
    CLI::Option* greedy = command.get_option("--greedy");
    CLI::Option* n_best = command
                              .add_option("--n-best", search.options.search.n_best,
                                          "Print this many translations of each line, best first; at most --beam")
                              ->check(whole_number(1, SearchOptions::kMaxBeam))
                              ->excludes(greedy)
                              ->each([&flags](const std::string&) { flags.n_best = true; });
    command
        .add_flag("--n-best-duplicates", search.options.search.n_best_duplicates,
                  "Keep translations with the same text that differ in their pieces")
        ->needs(n_best);
    CLI::Option* prefix = command.add_option("--prefix", flags.prefix, "Begin every translation with this text");
    command
        .add_option("--prefix-file", flags.prefix_file,
                    "Begin the translation of line i with line i of this file, which may be empty")
        ->type_name("FILE")
        ->excludes(prefix);
    CLI::Option* sample = command.add_flag("--sample", flags.sample, "Sample each piece randomly instead of searching")
                              ->excludes(beam)
                              ->excludes(greedy)
                              ->excludes(n_best);
    add_sampling_flags(command, flags.sampling, sample);
}

void add_sampling_flags(CLI::App& command, Sampling& sampling, CLI::Option* sample) {
    command
        .add_option("--temperature", sampling.temperature,
                    "Divide log probabilities by this before sampling; below 1 favours likely pieces")
        ->check(real_number(0.0, 1e6))
        ->capture_default_str()
        ->needs(sample);
    command.add_option("--top-k", sampling.top_k, "Sample from this many of the most likely pieces; 0: all")
        ->check(whole_number(0))
        ->capture_default_str()
        ->needs(sample);
    command
        .add_option("--top-p", sampling.top_p,
                    "Sample from the fewest of the most likely pieces with this total probability")
        ->check(real_number(0.0, 1.0))
        ->capture_default_str()
        ->needs(sample);
    command
        .add_option("--seed", sampling.seed, "Random seed; the output does not depend on the device or the batch size")
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
        throw Error(fmt::format("'{}' has {} lines, and the input has more: add a line for each, empty for no prefix",
                                file_, each_.size()));
    }
    return each_[static_cast<std::size_t>(line - 1)];
}

void Prefixes::check_used(std::int64_t lines) const {
    if (static_cast<std::int64_t>(each_.size()) > lines) {
        throw Error(
            fmt::format("'{}' has {} lines, and the input has {}: all lines were translated, but the files may not "
                        "match",
                        file_, each_.size(), lines));
    }
}

}  // namespace headscope

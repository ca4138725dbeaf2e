#include "cli/unsure_flags.h"

#include <array>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "options/option_values.h"

namespace headscope {

void add_unsure_flags(CLI::App& command, UnsureFlags& flags) {
    static constexpr std::array kWays = {"mark", "leave-out"};
    command.option_defaults()->group("Output");
    CLI::Option* least = command
                             .add_option("--least-confidence", flags.rule.least,
                                         "Mark outputs whose pieces have a lower probability in the geometric mean")
                             ->check(real_number(0.0, 1.0))
                             ->type_name("P");
    add_choice(
        command, "--unsure", kWays, [&flags](std::size_t way) { flags.rule.leaves_out = way == 1; },
        fmt::format("What becomes of these: \"{}\" stands before them, or their texts are left out", UnsureRule::kMark))
        ->needs(least);
    command
        .add_flag("--word-probabilities", flags.words,
                  "Append \" ||| 0.9512 0.7304\": the probability of each word, the product of its pieces'")
        ->excludes("--json");
}

void UnsureCount::add(const UnsureRule& rule, const TextResult& line) {
    for (std::size_t rank = 0; rank < line.n_best.size(); ++rank) {
        ++outputs_;
        unsure_ += rule.holds(confidence_of(line, rank)) ? 1 : 0;
    }
}

std::string UnsureCount::note(const UnsureRule& rule, const std::string& what) const {
    return unsure_ == 0 ? ""
                        : fmt::format("{} of {} {} have a confidence below {}: they are {}", unsure_, outputs_, what,
                                      rule.least, rule.leaves_out ? "left out" : "marked");
}

}  // namespace headscope

// headscope trees restore
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/trees/trees_actions.h"
#include "io/input_files.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"
#include "text/lines.h"
#include "trees/linearised.h"

namespace headscope {
namespace {

struct RestoreOptions {
    CommonOptions common;
    std::string input = "-", words, tags;
    Terminals terminals = Terminals::Normalised;
    bool lists = false, pretty = false;
};

// Sequences for one sentence after the other: a line, or a list of headscope translate --n-best.
class SequenceReader {
public:
    SequenceReader(const std::string& path, bool lists) : reader_(path), lists_(lists) {}

    // False at the end.
    bool next(std::vector<std::string>& sequences) {
        sequences.clear();
        if (!waiting_ && !read()) {
            return false;
        }
        require_next();
        do {
            sequences.push_back(*std::exchange(waiting_, std::nullopt));
        } while (lists_ && read() && number_ == count_);
        ++count_;
        return true;
    }

    const std::string& name() const { return reader_.name(); }
    std::int64_t count() const { return count_; }  // of sentences
    // For messages.
    std::string place() const { return fmt::format("{} line {}", reader_.name(), reader_.number()); }

private:
    // "12 ||| sequence ||| LogP= -1.5 ||| -0.5"
    bool read() {
        std::string line;
        if (!reader_.next(line)) {
            return false;
        }
        if (!lists_) {
            waiting_ = std::move(line);
            number_ = count_;
            return true;
        }
        constexpr std::string_view kBar = " ||| ";
        const std::size_t bar = std::min(line.find(kBar), line.size());
        const std::size_t end = line.find(kBar, std::min(bar + kBar.size(), line.size()));
        const auto [stop, problem] = std::from_chars(line.data(), line.data() + bar, number_);
        if (end == std::string::npos || problem != std::errc() || stop != line.data() + bar) {
            throw Error(
                fmt::format("{}: expected \"number ||| sequence ||| ...\", as headscope translate --n-best writes "
                            "it, found \"{}\"",
                            place(), line));
        }
        waiting_ = line.substr(bar + kBar.size(), end - bar - kBar.size());
        return true;
    }

    void require_next() const {
        if (number_ != count_) {
            throw Error(fmt::format("{}: expected list {}, found {}: the numbers count sentences from 0", place(),
                                    count_, number_));
        }
    }

    LineReader reader_;
    bool lists_;
    std::optional<std::string> waiting_;  // read, with its number
    std::int64_t number_ = 0;
    std::int64_t count_ = 0;
};

// The next line of a file that has one for each sentence.
std::string line_beside(LineReader& reader, const SequenceReader& sequences) {
    std::string line;
    if (!reader.next(line)) {
        throw Error(fmt::format("{} has {}, but {} has more: give one for each sequence", reader.name(),
                                counted(reader.number(), "line"), sequences.name()));
    }
    return line;
}

void require_end(LineReader& reader, const SequenceReader& sequences) {
    if (std::string line; reader.next(line)) {
        throw Error(fmt::format("{} has more lines than {} ({}): give one for each sequence", reader.name(),
                                sequences.name(), sequences.count()));
    }
}

Restored restored_sentence(const SequenceReader& reader, const std::vector<std::string>& sequences,
                           const std::vector<std::string>& words, const std::vector<std::string>* tags,
                           Terminals terminals) {
    try {
        return best_restored(sequences, words, tags, terminals);
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", reader.place(), error.what()));
    }
}

// Of a sentence, which has no tree if it has no words.
std::string printed(const RestoreOptions& options, std::int64_t line, const std::optional<Restored>& found) {
    if (!options.common.json) {
        return !found ? "\n" : options.pretty ? to_indented(found->tree) : to_line(found->tree) + "\n";
    }
    if (!found) {
        return json_row({{"line", line}, {"tree", nullptr}});
    }
    const Repairs& repairs = found->repairs;
    return json_row({{"line", line},
                     {"tree", to_line(found->tree)},
                     {"repaired", repairs.any()},
                     {"repairs",
                      {{"dropped_symbols", repairs.dropped_symbols},
                       {"dropped_closings", repairs.dropped_closings},
                       {"dropped_terminals", repairs.dropped_terminals},
                       {"added_closings", repairs.added_closings},
                       {"added_words", repairs.added_words},
                       {"empty", repairs.empty},
                       {"joined", repairs.joined}}}});
}

void print_repairs(const Repairs& all, std::int64_t repaired, std::int64_t lines) {
    log_line(
        fmt::format("headscope: repaired {} of {}: {}, {} and {} left out, {} and {} added, {} without words and {} "
                    "beside the first",
                    repaired, counted(lines, "sequence"), counted(all.dropped_symbols, "misplaced symbol"),
                    counted(all.dropped_closings, "closing symbol"), counted(all.dropped_terminals, "terminal"),
                    counted(all.added_closings, "closing symbol"), counted(all.added_words, "word"),
                    counted(all.empty, "constituent"), counted(all.joined, "tree")));
}

void restore(const RestoreOptions& options) {
    InputFiles inputs;
    inputs.add({options.input, options.words, options.tags});
    inputs.refuse("-");
    SequenceReader sequences(options.input, options.lists);
    LineReader words(options.words);
    std::optional<LineReader> tags;
    if (!options.tags.empty()) {
        tags.emplace(options.tags);
    }
    Repairs all;
    std::int64_t repaired = 0;
    for (std::vector<std::string> some; sequences.next(some);) {
        const std::vector<std::string> line = split_at_blanks(line_beside(words, sequences));
        const std::vector<std::string> line_tags =
            tags ? split_at_blanks(line_beside(*tags, sequences)) : std::vector<std::string>();
        std::optional<Restored> result;
        if (!line.empty()) {
            result = restored_sentence(sequences, some, line, tags ? &line_tags : nullptr, options.terminals);
            all += result->repairs;
            repaired += result->repairs.any() ? 1 : 0;
        }
        write_output(printed(options, sequences.count(), result));
    }
    require_end(words, sequences);
    if (tags) {
        require_end(*tags, sequences);
    }
    print_repairs(all, repaired, sequences.count());
}

}  // namespace

void add_restore_trees(CLI::App& trees) {
    auto options = std::make_shared<RestoreOptions>();
    CLI::App* command = trees.add_subcommand("restore", "Sequences of symbols to trees");
    command->footer(
        "Prints one tree for each sequence, whatever a model wrote. The n-th terminal stands for the n-th word. )X\n"
        "closes the innermost open X with all that is open inside it, and is left out if no X is open. Symbols with\n"
        "brackets elsewhere and terminals after the last word are left out; words without a terminal are added to\n"
        "the end of the outermost constituent. Constituents without words are left out, and TOP is put over several\n"
        "trees. Standard error has the number of repairs. With --n-best the first sequence that needs none is taken,\n"
        "or else the first.\n\n"
        "Examples:\n"
        "  headscope trees restore --words words.txt sequences.txt > out.trees\n"
        "  headscope trees restore --words words.txt --tags tags.txt --pretty sequences.txt");
    command->add_option("FILE", options->input, "Sequences, one per line; - is standard input")->capture_default_str();
    command->option_defaults()->group("Data");
    command->add_option("--words", options->words, "The words of each sentence, separated by blanks")
        ->type_name("FILE")
        ->check(not_empty)
        ->required();
    const CLI::Option* tags = command
                                  ->add_option("--tags", options->tags,
                                               "Their tags; without them the terminals, if those are tags, or else XX "
                                               "and the tags of punctuation")
                                  ->type_name("FILE")
                                  ->check(not_empty);
    command->add_flag(
        "--n-best", options->lists,
        "FILE is the output of translate --n-best: take the first tree of each list that needs no repair");
    const CLI::Option* terminals = add_terminals_option(*command, options->terminals);
    CLI::Option* pretty =
        command->add_flag("--pretty", options->pretty, "Print trees indented, over several lines")->group("Output");
    options->common.add_json(*command)->excludes(pretty);
    command->callback([options, tags, terminals] {
        if (tags->count() > 0 && terminals->count() > 0 && options->terminals != Terminals::Levels) {
            throw UsageError("--terminals excludes --tags, but for levels: tags say what terminals are");
        }
        restore(*options);
    });
}

}  // namespace headscope

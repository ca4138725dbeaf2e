#include "data/corpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/check.h"
#include "text/lines.h"

namespace headscope {

namespace {

bool blank(const std::string& line) {
    return line.find_first_not_of(" \t\r\v\f") == std::string::npos;
}

void add(ParallelText& text, std::string source, std::string target) {
    if (blank(source) || blank(target)) {
        ++text.dropped_empty;
        return;
    }
    text.source.push_back(std::move(source));
    text.target.push_back(std::move(target));
}

}  // namespace

ParallelText read_parallel(const std::string& source_path, const std::string& target_path) {
    std::vector<std::string> source = read_lines(source_path);
    std::vector<std::string> target = read_lines(target_path);
    if (source.size() != target.size()) {
        throw Error(
            fmt::format("'{}' has {} lines and '{}' has {}: line n of one must translate line n of the other; find the "
                        "line that is missing (or fetch both files again)",
                        source_path, source.size(), target_path, target.size()));
    }
    ParallelText text;
    for (std::size_t line = 0; line < source.size(); ++line) {
        add(text, std::move(source[line]), std::move(target[line]));
    }
    return text;
}

ParallelText read_tsv(const std::string& path) {
    const std::vector<std::string> lines = read_lines(path);
    ParallelText text;
    for (std::size_t line = 0; line < lines.size(); ++line) {
        const auto tabs = std::count(lines[line].begin(), lines[line].end(), '\t');
        if (lines[line].empty()) {
            ++text.dropped_empty;
            continue;
        }
        if (tabs != 1) {
            throw Error(
                fmt::format("'{}' line {} has {} TABs, expected one between source and target; cut further columns off",
                            path, line + 1, tabs));
        }
        const std::size_t tab = lines[line].find('\t');
        add(text, lines[line].substr(0, tab), lines[line].substr(tab + 1));
    }
    return text;
}

EncodedCorpus encode_corpus(const ParallelText& text, const Tokenizer& source, const Tokenizer& target,
                            std::int64_t max_pieces) {
    HEADSCOPE_CHECK(text.source.size() == text.target.size(), "every source has its target");
    HEADSCOPE_CHECK(max_pieces > 0, "max_pieces is " + std::to_string(max_pieces));
    const auto limit = static_cast<std::size_t>(max_pieces);
    EncodedCorpus corpus;
    for (std::size_t at = 0; at < text.source.size(); ++at) {
        Pair pair{source.encode(text.source[at]), target.encode(text.target[at])};
        if (pair.source.empty() || pair.target.empty()) {
            ++corpus.dropped_empty;
        } else if (pair.source.size() > limit || pair.target.size() > limit) {
            ++corpus.dropped_long;
        } else {
            corpus.pairs.push_back(std::move(pair));
        }
    }
    return corpus;
}

}  // namespace headscope

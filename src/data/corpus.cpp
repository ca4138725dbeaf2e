#include "data/corpus.h"

#include <fmt/format.h>
#include <algorithm>

#include <utility>

#include "data/pair_reader.h"
#include "support/check.h"
#include "support/parallel.h"

namespace headscope {

namespace {

ParallelText read_all(PairReader reader) {
    ParallelText text;
    for (std::string source, target; reader.next(source, target);) {
        text.source.push_back(std::move(source));
        text.target.push_back(std::move(target));
    }
    text.dropped_empty = reader.dropped_empty();
    return text;
}

}  // namespace

ParallelText read_parallel(const std::string& source_path, const std::string& target_path) {
    return read_all(PairReader(source_path, target_path));
}

ParallelText read_tsv(const std::string& path) {
    return read_all(PairReader(path));
}

EncodedCorpus encode_corpus(const ParallelText& text, const Tokenizer& source, const Tokenizer& target,
                            std::int64_t max_pieces, bool any_source) {
    HEADSCOPE_CHECK(text.source.size() == text.target.size(), "sources and targets must have the same size");
    HEADSCOPE_CHECK(max_pieces > 0, "max_pieces is " + std::to_string(max_pieces));
    const auto limit = static_cast<std::size_t>(max_pieces);
    const std::size_t least = any_source ? 1 : 256;  // pairs of a thread; fewer texts are not worth one
    std::vector<Example> pairs(text.source.size());
    in_parallel(pairs.size(), least, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            pairs[i] = {source.encode(text.source[i]), target.encode(text.target[i])};
        }
    });
    EncodedCorpus corpus;
    for (Example& pair : pairs) {
        if (pair.source.empty() || pair.target.empty()) {
            ++corpus.dropped_empty;
        } else if ((pair.source.size() > limit && !any_source) || pair.target.size() > limit) {
            ++corpus.dropped_long;
        } else {
            corpus.pairs.push_back(std::move(pair));
        }
    }
    return corpus;
}

std::int64_t longest_text(const Example& example) {
    if (example.starts.empty()) {
        return std::ssize(example.target);
    }
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < example.starts.size(); ++i) {
        const std::int64_t end = i + 1 < example.starts.size() ? example.starts[i + 1] : std::ssize(example.target);
        longest = std::max(longest, end - example.starts[i]);
    }
    return longest;
}

}  // namespace headscope

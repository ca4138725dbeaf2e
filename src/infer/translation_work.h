// Splits lines into units, groups these into batches of similar length, and joins the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "infer/prepared_line.h"

namespace headscope {

// Different threads may work on units of different batches; all else is single-threaded.
class TranslationWork {
public:
    enum class Order {
        LongestFirst,  // if the first batch fits in memory, all do
        SoonestFirst,  // batches in order of their first line: early results
    };

    // `longest`: the model's maximum source length, including the end. Error for languages that the model needs or does
    // not have.
    TranslationWork(const ModelDirectory& model, const std::vector<SourceLine>& lines, const DecodingOptions& options,
                    std::int64_t longest, Order order);

    std::size_t batches() const { return batches_.size(); }
    std::vector<LinePart*> units_of(std::size_t batch);
    // Marks a batch as done; its units contain the results.
    void done(std::size_t batch);

    std::size_t lines() const { return lines_.size(); }
    std::size_t finished() const;  // lines, in order or not
    // The next results in order, each returned once.
    std::vector<TextResult> next();

private:
    struct Line {
        std::size_t first_unit = 0;
        std::size_t units = 0;
        std::size_t waiting = 0;  // units not yet translated
        std::string remark = {};
    };
    TextResult finished_line(Line& line);

    SearchOptions search_;
    std::vector<LinePart> units_;       // of all lines
    std::vector<std::size_t> line_of_;  // of each unit
    std::vector<Line> lines_;
    std::vector<std::vector<std::size_t>> batches_;  // of the units that have pieces
    std::size_t handed_out_ = 0;
};

// Groups lengths into batches: indices of similar length whose rows * longest, padded, stays within `budget` (a longer
// one is a batch by itself). Entries of length 0 are skipped.
std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<std::int64_t>& lengths, std::int64_t budget);

}  // namespace headscope

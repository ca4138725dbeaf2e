// Reads parallel text of any size pair by pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "text/lines.h"

namespace headscope {

// Two files with one sentence per line, or one file of "source TAB target" lines. Only LF ends a line; a CR is part of
// it (text/lines.h).
class PairReader {
public:
    PairReader(const std::string& source_path, const std::string& target_path);
    // Ignored: skips the columns after source and target.
    enum class FurtherColumns : bool { Rejected, Ignored };
    explicit PairReader(const std::string& tsv_path, FurtherColumns further = FurtherColumns::Rejected);

    // The next pair without an empty side (is_empty_text); false at the end. Error that names file and line for text
    // that is not UTF-8 or does not have exactly one TAB; an Error that names both files if their lengths differ.
    bool next(std::string& source, std::string& target);
    // The next pair unchanged, also with an empty side; checks only TABs and line counts. An empty TSV line is a pair
    // of empty sides.
    bool next_raw(std::string& source, std::string& target);

    // For messages: the files (the same for TSV) and the line of the last pair, from 1.
    const std::string& name() const { return first_->name(); }
    const std::string& target_name() const { return (second_ ? *second_ : *first_).name(); }
    std::size_t line() const { return first_->number(); }
    std::int64_t dropped_empty() const { return dropped_empty_; }
    // The number of files read so far that began with a byte order mark, which is removed.
    std::int64_t byte_order_marks() const;

private:
    [[noreturn]] void fail_lengths(bool source_longer);

    std::unique_ptr<LineReader> first_, second_;  // second_: null for TSV
    FurtherColumns further_ = FurtherColumns::Rejected;
    std::string line_;
    std::int64_t dropped_empty_ = 0;
};

// " (3 with an empty side)", for messages; empty for 0.
std::string empty_sides(std::int64_t pairs);

}  // namespace headscope

// Parallel text, pair by pair, however long the files are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "text/lines.h"

namespace headscope {

// Two files of one sentence a line, or one of "source TAB target" lines; LF alone ends a line, a CR stays in it
// (text/lines.h).
class PairReader {
public:
    PairReader(const std::string& source_path, const std::string& target_path);
    // Ignored: of "source TAB target TAB anything" the rest.
    enum class FurtherColumns : bool { Refused, Ignored };
    explicit PairReader(const std::string& tsv_path, FurtherColumns further = FurtherColumns::Refused);

    // The next pair of which no side is empty (is_empty_text); false at the end. Error that names file and line for
    // text that is not UTF-8 or has no TAB or more than one, and one that names both files where they differ in length.
    bool next(std::string& source, std::string& target);
    // The next pair as it stands: nothing is left out, and nothing but TABs and numbers of lines is checked. An empty
    // line of TSV is a pair of empty sides.
    bool next_raw(std::string& source, std::string& target);

    // For messages: the files, which are one for TSV, and the line of the last pair, from 1.
    const std::string& name() const { return first_->name(); }
    const std::string& target_name() const { return (second_ ? *second_ : *first_).name(); }
    std::size_t line() const { return first_->number(); }
    std::int64_t dropped_empty() const { return dropped_empty_; }
    // At the beginning of so many of the files that were read so far; left out.
    std::int64_t byte_order_marks() const;

private:
    [[noreturn]] void fail_lengths(bool source_longer);

    std::unique_ptr<LineReader> first_, second_;  // second_: none for TSV
    FurtherColumns further_ = FurtherColumns::Refused;
    std::string line_;
    std::int64_t dropped_empty_ = 0;
};

// " (3 with an empty side)", for messages; nothing where there are none.
std::string empty_sides(std::int64_t pairs);

}  // namespace headscope

#include "data/pair_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/check.h"
#include "support/utf8.h"
#include "text/normalised.h"

namespace headscope {

PairReader::PairReader(const std::string& source_path, const std::string& target_path)
    : first_(std::make_unique<LineReader>(source_path)), second_(std::make_unique<LineReader>(target_path)) {}

PairReader::PairReader(const std::string& tsv_path, FurtherColumns further)
    : first_(std::make_unique<LineReader>(tsv_path)), further_(further) {}

bool PairReader::next_raw(std::string& source, std::string& target) {
    if (second_) {
        const bool has_source = first_->next_bytes(source);
        const bool has_target = second_->next_bytes(target);
        if (has_source != has_target) {
            fail_lengths(has_source);
        }
        return has_source;
    }
    if (!first_->next_bytes(line_)) {
        return false;
    }
    const auto tabs = std::count(line_.begin(), line_.end(), '\t');
    if (tabs > 1 && further_ == FurtherColumns::Rejected) {
        throw Error(
            fmt::format("{} line {} has {} TABs, expected one between source and target; remove the other columns",
                        first_->name(), first_->number(), tabs));
    }
    if (tabs == 0 && !line_.empty()) {
        throw Error(
            fmt::format("{} line {} has no TAB, expected one between source and target; if these are two files, "
                        "pass both",
                        first_->name(), first_->number()));
    }
    const std::size_t tab = std::min(line_.find('\t'), line_.size());
    const std::size_t begin = std::min(tab + 1, line_.size());
    source.assign(line_, 0, tab);
    target.assign(line_, begin, line_.find('\t', begin) - begin);
    return true;
}

bool PairReader::next(std::string& source, std::string& target) {
    while (next_raw(source, target)) {
        if (first_invalid_utf8(source)) {
            first_->fail_utf8(second_ ? source : line_);
        }
        if (first_invalid_utf8(target)) {
            (second_ ? *second_ : *first_).fail_utf8(second_ ? target : line_);
        }
        if (!is_empty_text(source) && !is_empty_text(target)) {
            return true;
        }
        ++dropped_empty_;
    }
    return false;
}

std::int64_t PairReader::byte_order_marks() const {
    return (first_->had_byte_order_mark() ? 1 : 0) + (second_ && second_->had_byte_order_mark() ? 1 : 0);
}

std::string empty_sides(std::int64_t pairs) {
    return pairs > 0 ? fmt::format(" ({} with an empty side)", pairs) : "";
}

void PairReader::fail_lengths(bool source_longer) {
    LineReader& longer = source_longer ? *first_ : *second_;
    while (longer.next_bytes(line_)) {
    }
    throw Error(fmt::format(
        "{} has {} lines, but {} has {}: line n of one must translate line n of the other; find the line that "
        "is missing (or download both files again)",
        first_->name(), first_->number(), second_->name(), second_->number()));
}

}  // namespace headscope

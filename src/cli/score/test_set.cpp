#include "cli/score/test_set.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "cli/command.h"
#include "data/corpus.h"
#include "eval/white_space.h"
#include "io/byte_order_mark.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"
#include "text/lines.h"
#include "text/normalised.h"

namespace headscope {

namespace {

void report_left_out(const std::string& file, std::int64_t lines) {
    if (lines > 0) {
        log_line(
            fmt::format("headscope: '{}': {} left out, empty or with an empty side", file, counted(lines, "line")));
    }
}

TestSet read_pairs(const TestSetFiles& files) {
    ParallelText text = read_tsv(files.tsv);
    if (text.dropped_empty > 0 && !files.hypotheses.empty()) {
        throw Error(fmt::format(
            "{} of the lines of '{}' are empty or have an empty side, so the lines of '{}' cannot be matched to them: "
            "remove them from both",
            text.dropped_empty, files.tsv, files.hypotheses));
    }
    report_left_out(files.tsv, text.dropped_empty);
    return {.source = std::move(text.source),
            .references = {std::move(text.target)},
            .hypotheses = {},
            .left_out = {},
            .lines_left_out = text.dropped_empty};
}

void check_lengths(const std::string& first_file, const std::vector<std::string>& first, const std::string& second_file,
                   const std::vector<std::string>& second) {
    if (first.size() != second.size()) {
        throw Error(fmt::format("'{}' has {} lines and '{}' has {}: line i of one must translate line i of the other",
                                first_file, first.size(), second_file, second.size()));
    }
}

// The lines of a text to score. To sacreBLEU a byte order mark is part of the first word, so it is here.
std::vector<std::string> read_scored(const std::string& file) {
    std::vector<std::string> lines = read_lines(file, ByteOrderMark::Kept);
    if (!lines.empty() && lines.front().starts_with(kByteOrderMark)) {
        log_line(fmt::format(
            "headscope: '{}' begins with a byte order mark, which is scored as text, as sacreBLEU does", file));
    }
    return lines;
}

TestSet read_files(const TestSetFiles& files) {
    if (files.references.empty()) {
        throw UsageError(
            "nothing to compare with: give --tsv FILE, or --reference FILE with --source or --hypotheses; of a "
            "language "
            "model --text FILE");
    }
    if (files.source.empty() && files.hypotheses.empty()) {
        throw UsageError("nothing to translate: give --source FILE, or --hypotheses FILE");
    }
    TestSet set;
    for (const std::string& file : files.references) {
        set.references.push_back(read_scored(file));
        check_lengths(files.references.front(), set.references.front(), file, set.references.back());
    }
    if (!files.source.empty()) {
        set.source = read_lines(files.source);
        check_lengths(files.source, set.source, files.references.front(), set.references.front());
    }
    return set;
}

// What a model cannot translate, or nothing compares with. Of given translations, which are scored as sacreBLEU does,
// only lines without a word on any side, which count nothing.
bool is_left_out(const TestSet& set, std::size_t line) {
    const auto none = [&](const auto& is_empty) {
        return std::all_of(set.references.begin(), set.references.end(),
                           [&](const std::vector<std::string>& reference) { return is_empty(reference[line]); });
    };
    if (!set.hypotheses.empty()) {
        const auto has_no_word = [](const std::string& text) { return split_words(text).empty(); };
        return has_no_word(set.hypotheses[line]) && none(has_no_word);
    }
    return none(is_empty_text) || (!set.source.empty() && is_empty_text(set.source[line]));
}

void leave_out_empty(TestSet& set, const std::string& compared) {
    for (std::size_t i = 0; i < set.references.front().size(); ++i) {
        if (is_left_out(set, i)) {
            set.left_out.push_back(i);
        }
    }
    const auto remove = [&](std::vector<std::string>& lines) {
        std::size_t line = 0;
        std::erase_if(lines, [&](const std::string&) {
            return std::binary_search(set.left_out.begin(), set.left_out.end(), line++);
        });
    };
    remove(set.source);
    remove(set.hypotheses);
    std::for_each(set.references.begin(), set.references.end(), remove);
    report_left_out(compared, std::ssize(set.left_out));
    set.lines_left_out += std::ssize(set.left_out);
}

void shorten(std::vector<std::string>& lines, std::size_t limit) {
    if (limit > 0 && lines.size() > limit) {
        lines.resize(limit);
    }
}

}  // namespace

TestSet read_test_set(const TestSetFiles& files) {
    TestSet set = files.tsv.empty() ? read_files(files) : read_pairs(files);
    const std::string& compared = files.tsv.empty() ? files.references.front() : files.tsv;
    if (!files.hypotheses.empty()) {
        set.hypotheses = read_scored(files.hypotheses);
        check_lengths(files.hypotheses, set.hypotheses, compared, set.references.front());
    }
    leave_out_empty(set, compared);
    if (set.references.front().empty()) {
        throw Error(fmt::format("'{}' has no sentence to score", compared));
    }
    shorten(set.source, files.limit);
    shorten(set.hypotheses, files.limit);
    for (std::vector<std::string>& reference : set.references) {
        shorten(reference, files.limit);
    }
    return set;
}

}  // namespace headscope

#include "app/test_set.h"

#include <utility>

#include <fmt/format.h>

#include "app/command.h"
#include "data/corpus.h"
#include "support/check.h"
#include "support/counted.h"
#include "text/lines.h"

namespace headscope {

namespace {

TestSet read_pairs(const TestSetFiles& files) {
    ParallelText text = read_tsv(files.tsv);
    if (text.dropped_empty > 0 && !files.hypotheses.empty()) {
        throw Error(fmt::format(
            "{} of the lines of '{}' are empty or have an empty side, so that the lines of '{}' could not be told "
            "to belong to the others: take them out of both",
            text.dropped_empty, files.tsv, files.hypotheses));
    }
    if (text.dropped_empty > 0) {
        tell(fmt::format("headscope: '{}': {} left out, empty or with an empty side", files.tsv,
                         counted(text.dropped_empty, "line")));
    }
    return {std::move(text.source), {std::move(text.target)}, {}};
}

void check_lengths(const std::string& first_file, const std::vector<std::string>& first, const std::string& second_file,
                   const std::vector<std::string>& second) {
    if (first.size() != second.size()) {
        throw Error(
            fmt::format("'{}' has {} lines and '{}' has {}: line i of one must be the translation of line i of the "
                        "other",
                        first_file, first.size(), second_file, second.size()));
    }
}

TestSet read_files(const TestSetFiles& files) {
    if (files.references.empty()) {
        throw Error("nothing to compare with: give --tsv FILE, or --reference FILE with --source or --hypotheses");
    }
    if (files.source.empty() && files.hypotheses.empty()) {
        throw Error("nothing to translate: give --source FILE, or --hypotheses FILE");
    }
    TestSet set;
    for (const std::string& file : files.references) {
        set.references.push_back(read_lines(file));
        check_lengths(files.references.front(), set.references.front(), file, set.references.back());
    }
    if (!files.source.empty()) {
        set.source = read_lines(files.source);
        check_lengths(files.source, set.source, files.references.front(), set.references.front());
    }
    return set;
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
        set.hypotheses = read_lines(files.hypotheses);
        check_lengths(files.hypotheses, set.hypotheses, compared, set.references.front());
    }
    if (set.references.front().empty()) {
        throw Error(fmt::format("'{}' holds no sentence to score", compared));
    }
    shorten(set.source, files.limit);
    shorten(set.hypotheses, files.limit);
    for (std::vector<std::string>& reference : set.references) {
        shorten(reference, files.limit);
    }
    return set;
}

}  // namespace headscope

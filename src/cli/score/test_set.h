// The files of headscope evaluate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

struct TestSetFiles {
    std::string tsv;                      // "source TAB reference"; or
    std::string source;                   // may be empty if nothing is translated
    std::vector<std::string> references;  // one or more
    std::string hypotheses;               // existing translations; empty: a model translates
    std::size_t limit = 0;                // only the first this many sentences; 0: all
};

struct TestSet {
    std::vector<std::string> source;                   // may be empty
    std::vector<std::vector<std::string>> references;  // [reference][sentence]
    std::vector<std::string> hypotheses;               // empty if a model translates
    std::vector<std::size_t> left_out;                 // lines of --source and --reference that are skipped, from 0
    std::int64_t lines_left_out = 0;                   // including those of --tsv
};

// Skips lines whose source or every reference is empty (is_empty_text), and reports their number. Error if files are
// missing, empty or of different lengths.
TestSet read_test_set(const TestSetFiles& files);

}  // namespace headscope

// The files that translations are scored against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

struct TestSetFiles {
    std::string tsv;                      // "source TAB reference"; or
    std::string source;                   // may be empty where nothing is translated
    std::vector<std::string> references;  // one or more
    std::string hypotheses;               // translations that are there already; empty: a model makes them
    std::size_t limit = 0;                // only the first so many sentences; 0: all
};

struct TestSet {
    std::vector<std::string> source;                   // empty where there is none
    std::vector<std::vector<std::string>> references;  // [reference][sentence]
    std::vector<std::string> hypotheses;               // empty where a model makes them
    std::vector<std::size_t> left_out;  // lines of --source and --reference that are no part of it, from 0
    std::int64_t lines_left_out = 0;    // of --tsv too
};

// Without the lines of which the source or every reference is empty (is_empty_text), and says how many those are.
// Error names the files that are missing, do not belong together or hold nothing.
TestSet read_test_set(const TestSetFiles& files);

}  // namespace headscope

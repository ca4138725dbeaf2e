// Writes train.tsv, valid.tsv and test.tsv.
#pragma once

#include <string>
#include <vector>

namespace headscope {

struct SentencePair {
    std::string source, target;
};

struct Split {
    std::vector<SentencePair> train, valid, test;
};

// Each file is written whole or not at all; the folder is made where it is missing. Prints what was written.
void write_split(const std::string& folder, const Split& split);

}  // namespace headscope

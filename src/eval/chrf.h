// Corpus chrF2 (Popovic, 2015), equal to sacreBLEU's default: runs of 1 to 6 characters without white space, recall
// counting twice as much as precision.
#pragma once

#include <string>
#include <vector>

namespace headscope {

struct ChrfScore {
    double score = 0.0;  // 0 to 100
    int references = 1;
    bool lowercase = false;

    // In sacreBLEU's terms: "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no"
    std::string signature() const;
};

// references[r][s]: several references a sentence, at least one; of them the one that gives the sentence the best score
// counts. Error, naming both numbers, when one has not as many lines.
ChrfScore corpus_chrf(const std::vector<std::string>& translations,
                      const std::vector<std::vector<std::string>>& references, bool lowercase = false);

}  // namespace headscope

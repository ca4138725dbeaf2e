// Corpus chrF2 (Popovic, 2015), equal to sacreBLEU's default: character n-grams of order 1 to 6 without white space,
// recall weighted twice as much as precision.
#pragma once

#include <string>
#include <vector>

namespace headscope {

struct ChrfScore {
    double score = 0.0;  // 0 to 100
    int references = 1;
    bool lowercase = false;

    // The settings in sacreBLEU's notation: "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no"
    std::string signature() const;
};

// references[r][s]: one or more references per sentence; the best-scoring one counts. Error with both numbers if the
// line counts differ.
ChrfScore corpus_chrf(const std::vector<std::string>& translations,
                      const std::vector<std::vector<std::string>>& references, bool lowercase = false);

}  // namespace headscope

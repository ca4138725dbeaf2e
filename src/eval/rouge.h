// ROUGE-1, ROUGE-2 and ROUGE-L (Lin, 2004), equal to the package rouge-score: the words of a summary that its reference
// has, too. A word is a run of ASCII letters and digits in any case, so other letters separate words.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace headscope {

// Means over all lines, 0 to 100.
struct RougeMean {
    double precision = 0.0;  // the share of the summary's n-grams or words that the reference has
    double recall = 0.0;     // the share of the reference's that the summary has
    double f1 = 0.0;
};

struct RougeScore {
    RougeMean one, two;  // of words and of pairs of words
    RougeMean longest;   // of the longest common subsequence of words: ROUGE-L. A line is one sentence, so that
                         // ROUGE-Lsum, which counts sentence by sentence, is the same.
    int references = 1;
    bool stemmed = false;

    std::string to_string() const;  // "ROUGE-1 = 60.00 ROUGE-2 = 40.00 ROUGE-L = 55.00 (F1)"
    std::string signature() const;  // "nrefs:1|stem:no"
};

// references[r][s]: one or more references per summary; of each score the one with the highest F1 counts. `stemmed`:
// words of more than three letters are compared by their stems, as with use_stemmer=True. Error with both numbers if
// the line counts differ.
RougeScore corpus_rouge(const std::vector<std::string>& summaries,
                        const std::vector<std::vector<std::string>>& references, bool stemmed = false);

}  // namespace headscope

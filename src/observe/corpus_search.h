// How often heads attend to what a rule names, over many sentences, and whether a head that knows only positions would
// do as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/attention_record.h"
#include "observe/corpus_rules.h"
#include "support/intervals.h"

namespace headscope {

// A share of the questions that were answered right, with its 95 % interval.
struct AnswerRate {
    double rate = 0.0;
    Interval interval = {};  // Wilson's
};

// What heads are measured against. Offsets count punctuation, too; uniform weights are over words.
struct BaselineResult {
    std::string name;        // "previous word", "offset -3", "uniform"
    double rate = 0.0;       // of uniform weights: expected
    double more = 0.0;       // the head's rate minus this one
    Interval interval = {};  // of `more`: 95 %, by a bootstrap over sentences
};

struct CorpusFinding {
    CorpusQuery query;
    std::int64_t sentences = 0;                  // with questions
    std::int64_t questions = 0;                  // of the half that is measured
    AttentionSite site = {};                     // of the head that answers most questions of the other half
    int head = 1;                                // from 1
    AnswerRate chosen = {};                      // its rate there
    AnswerRate measured = {};                    // its rate on the half that is measured
    std::vector<BaselineResult> baselines = {};  // previous word, the best offset of the other half, uniform
    int heads = 0;                               // of this kind of attention
    int better = 0;                              // heads whose measured rate is above that of every baseline
};

// Asks the questions of one rule to all heads of a kind of self-attention. A head's answer is the word, other than the
// query, with the largest weight beyond the mean that all queries give to it: attending to the same word from
// everywhere answers nothing. Every second sentence with questions chooses the best head and offset, the others measure
// them.
class CorpusSearch {
public:
    CorpusSearch(CorpusQuery query, AttentionKind kind, bool join_words);

    void add(const AttentionRecord& record);
    // Error if fewer than two sentences have questions.
    CorpusFinding result() const;

private:
    struct Answers {
        AttentionSite site;
        int head = 1;
        std::vector<bool> right;  // by question
    };
    static constexpr int kFarthest = 10;  // offset of a baseline

    void add_answers(const AttentionRecord& record, const std::vector<Question>& questions,
                     const std::vector<bool>& words);
    std::int64_t count(const std::vector<bool>& right, bool measured) const;
    BaselineResult compared(std::string name, const std::vector<bool>& head, const std::vector<double>& baseline) const;

    CorpusQuery query_;
    AttentionKind kind_;
    RowOptions rows_;
    std::int64_t sentences_ = 0;
    std::vector<std::int64_t> sentence_;      // of each question, from 0
    std::vector<Answers> heads_;              // in model order
    std::vector<std::vector<bool>> offsets_;  // of the offsets -kFarthest to kFarthest
    std::vector<double> uniform_;             // expected rate of each question
};

}  // namespace headscope

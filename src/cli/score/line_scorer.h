// Scores the lines of a file by a model with an output for scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/opened_engine.h"
#include "data/corpus.h"
#include "data/frame.h"
#include "options/common_options.h"

namespace headscope {

// A text that is read and what the model makes of it.
struct ScoredLine {
    std::size_t line = 0;
    std::string text = {};
    std::optional<std::string> pair = {};
    std::string problem = {};                      // why the model cannot read it; empty: it can
    std::vector<Example> examples = {};            // what the model reads of it; none if there is a problem
    std::vector<std::vector<double>> scores = {};  // of each of them
};

// Names the lines of a file that the model cannot read, and counts them.
class LineProblems {
public:
    explicit LineProblems(std::string file) : file_(std::move(file)) {}

    // The next line. True if it has a problem.
    bool report(const ScoredLine& line);
    std::size_t lines() const { return lines_; }
    std::size_t count() const { return count_; }
    // "2 of 7 texts were not classified"; `noun`: "text", `done`: "classified".
    void require_none(const std::string& noun, const std::string& done) const;

private:
    const std::string file_;
    std::size_t lines_ = 0, count_ = 0;
};

class LineScorer {
public:
    LineScorer(const LineScorer&) = delete;
    LineScorer& operator=(const LineScorer&) = delete;
    virtual ~LineScorer() = default;

    // `next` reads a line, or says false at the end; `take` gets some lines at a time, in order. Error for a score that
    // is not finite.
    void score_all(const std::function<bool(ScoredLine& line)>& next,
                   const std::function<void(const std::vector<ScoredLine>& lines)>& take);

    // The same for a command that prints each line as `printed` says, and names the problems. Error if there are any,
    // "2 of 7 texts were not classified", and if there is no line, "`name` has no text to classify".
    struct Words {
        std::string noun, to_do, done;  // "text", " to classify", "classified"
    };
    void print_all(const std::function<bool(ScoredLine& line)>& next,
                   const std::function<std::string(const ScoredLine& line)>& printed, const std::string& name,
                   const Words& words);

    const OpenedEngine& opened() const { return opened_; }
    const std::vector<std::string>& models() const { return models_; }
    const ModelDirectory& directory() const { return opened_.directory(); }

protected:
    // UsageError for several models. Error for one that needs a language.
    LineScorer(const CommonOptions& common, std::int64_t batch_tokens);
    const Frame& frame() const { return frame_; }

private:
    struct Part {
        std::vector<ScoredLine> lines;
        std::int64_t tokens = 0;
    };
    using Scores = std::vector<std::vector<double>>;  // of the examples of all lines

    // An Error of it is the line's problem.
    virtual std::vector<Example> examples_of(const ScoredLine& line) const = 0;
    std::optional<Part> read(const std::function<bool(ScoredLine& line)>& next) const;
    Scores score(const Place& place, const Part& part) const;
    static std::vector<ScoredLine> with_scores(const Part& part, const Scores& scores);

    std::vector<std::string> models_;
    OpenedEngine opened_;
    Frame frame_;
    std::int64_t batch_tokens_;
};

}  // namespace headscope

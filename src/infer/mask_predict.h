// Mask-predict (Ghazvininejad et al., 2019, section 3.3): translates in a fixed number of passes over the whole text,
// instead of one for each piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "infer/hypotheses.h"
#include "model/mask_predict.h"

namespace headscope {

// How many of `pieces` are predicted in iteration `number`, counted from 0, of `iterations`: all, then linearly fewer.
std::int64_t masked_pieces(std::int64_t pieces, int number, int iterations);

// Translates `sources` (Frame::source), an iteration a step. SearchOptions::length_candidates texts of different
// lengths are written for each, of which the one with the highest mean log-probability is returned, with that mean as
// its score. A piece's probability is that of when it was last predicted; the length's counts as that of the end. (The
// paper leaves it out, and then prefers a short text that it is sure of.) Lengths are at least
// SearchOptions::min_length, and less than the task's limit, which counts an end. Of the tasks only the limit is
// read.
class MaskPredictSearch {
public:
    // Runs the encoder. `options` of each task, which share_batch(). Context and model outlive it.
    MaskPredictSearch(Context& ctx, const MaskPredict& model, const std::vector<std::vector<std::int32_t>>& sources,
                      const std::vector<SearchTask>& tasks, const std::vector<const SearchOptions*>& options);
    ~MaskPredictSearch();

    // Returns whether another iteration follows.
    bool step();
    // Ends this task with the text so far, as if the limit were reached.
    void stop(std::size_t task);
    bool done(std::size_t task) const;
    std::int64_t tokens() const { return tokens_; }

    SentenceBeam::Written written(std::size_t task) const;
    // Without its text.
    Hypothesis best(std::size_t task) const;

private:
    class Drafts;
    const int iterations_;
    const std::int32_t eos_;
    std::unique_ptr<Drafts> drafts_;
    int number_ = 0;  // of the next iteration
    bool finished_ = false;
    std::vector<bool> stopped_;
    std::int64_t tokens_ = 0;
};

}  // namespace headscope

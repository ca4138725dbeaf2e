// One batch of a search session: parts of lines that are searched side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "infer/hypotheses.h"
#include "infer/loaded_model.h"

namespace headscope {

class SearchBatch {
public:
    SearchBatch() = default;
    SearchBatch(const SearchBatch&) = delete;
    SearchBatch& operator=(const SearchBatch&) = delete;
    virtual ~SearchBatch() = default;

    virtual void step() = 0;
    virtual std::int64_t tokens() const = 0;
    // The parts whose results have not been taken, in order; the functions below take their number.
    virtual const std::vector<LinePart*>& parts() const = 0;
    virtual bool done(std::size_t i) const = 0;
    // Whether outputs without a beam only grow.
    virtual bool grows() const = 0;
    // Nothing before the first token.
    virtual SentenceBeam::Written written(std::size_t i) const = 0;
    // The hypotheses of a part that is done, best first.
    virtual std::vector<Hypothesis> hypotheses(std::size_t i) const = 0;
    virtual void remove(std::size_t i) = 0;
    virtual bool joins(const LinePart& part) const = 0;
    virtual void join(const std::vector<LinePart*>& parts) = 0;
};

// The batch has some of these parts, or all if they fit together: prompts of different lengths need a model that can
// continue them side by side. The context and the model outlive it. Runs the encoder, if there is one.
std::unique_ptr<SearchBatch> begin_batch(Context& ctx, const LoadedModel& model, std::vector<LinePart*> parts);

}  // namespace headscope

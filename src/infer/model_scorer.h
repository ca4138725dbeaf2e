// The device part of beam search: encodes once, then runs one cached decoder step for all rows and ranks the
// vocabulary, of which only the first few tokens are downloaded.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/beam_search.h"
#include "model/generator.h"

namespace headscope {

class ModelScorer final : public Scorer {
public:
    // `sources` are complete (Frame::source) or, of a model without a source, prompts of equal length, of which all but
    // the last token are read here. Context and model outlive the scorer.
    ModelScorer(Context& ctx, const Generator& model, const std::vector<std::vector<std::int32_t>>& sources);

    std::int64_t vocabulary() const override;
    const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                           int k) override;
    const NextTokens& step_until(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                 int k, int most, const std::function<bool(const NextTokens&)>& enough) override;
    const AllTokens& step_all(const std::vector<std::int32_t>& tokens,
                              const std::vector<std::int32_t>& parents) override;

private:
    void start(const std::vector<std::vector<std::int32_t>>& sources);
    void read_prompts(const std::vector<std::vector<std::int32_t>>& prompts);
    void follow(const std::vector<std::int32_t>& parents);

    Context& ctx_;
    const Generator& model_;
    Cache cache_;
    std::vector<std::int32_t> sentences_;  // of each row
    std::size_t sources_ = 0;  // in the cache: rows of a sentence share one if all sentences have equally many rows
    NextTokens next_;
    AllTokens all_;
};

}  // namespace headscope

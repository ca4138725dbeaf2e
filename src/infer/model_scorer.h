// The device part of beam search: encodes once, then runs one cached decoder step for all rows and ranks the
// vocabulary, of which only the first few tokens are downloaded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "infer/beam_search.h"
#include "model/generator.h"

namespace headscope {

class ModelScorer final : public Scorer {
public:
    // `sources` are complete (Frame::source) or, of a model without a source, prompts of equal length, of which all but
    // the last token are read by read_on(). Context and model outlive the scorer.
    ModelScorer(Context& ctx, const Generator& model, const std::vector<std::vector<std::int32_t>>& sources);
    ~ModelScorer() override;

    std::int64_t vocabulary() const override;
    const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                           int k) override;
    const NextTokens& step_until(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                 int k, int most, const std::function<bool(const NextTokens&)>& enough) override;
    const AllTokens& step_all(const std::vector<std::int32_t>& tokens,
                              const std::vector<std::int32_t>& parents) override;
    bool read_on() override;
    bool can_join() const override;
    std::int32_t join(Scorer& other) override;
    int most_ahead() const override;
    std::span<const NextTokens> run_ahead(const std::vector<std::int32_t>& tokens,
                                          const std::vector<std::int32_t>& parents, int k, int count) override;
    void keep(int count) override;
    // Steps that may run before the host reads one; by default what the device is made for.
    void set_most_ahead(int steps) { most_ahead_ = steps; }

private:
    struct Found;
    struct StepOperands;
    const StepOperands& operands(std::int64_t rows, int k, bool with_logits);
    void start(const std::vector<std::vector<std::int32_t>>& sources);
    void follow(const std::vector<std::int32_t>& parents);

    Context& ctx_;
    const Generator& model_;
    Cache cache_;
    std::vector<std::vector<std::int32_t>> prompts_;  // until they are read
    std::size_t read_ = 0;                            // tokens of each of them
    std::vector<std::int32_t> sentences_;             // of each row
    std::size_t sources_ = 0;  // in the cache: rows of a sentence share one if all sentences have equally many rows
    bool branches_ = false;    // a row was continued twice: the cache follows
    std::unique_ptr<StepOperands> step_;
    int most_ahead_ = 1;
    std::vector<NextTokens> ahead_;
    NextTokens next_;
    AllTokens all_;
};

}  // namespace headscope

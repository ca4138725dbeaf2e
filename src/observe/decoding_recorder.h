// Records attention during beam search and reassembles it along the path of a hypothesis.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/beam_search.h"
#include "model/encoder_decoder.h"
#include "observe/record_attention.h"
#include "observe/weight_collector.h"

namespace headscope {

// Wraps a Scorer and fetches the collector's weights after each step. The collector must be the observer of the
// scorer's Context from before the scorer ran the encoder.
class DecodingRecorder final : public Scorer {
public:
    DecodingRecorder(Scorer& scorer, WeightCollector& collector, Backend& backend);

    std::int64_t vocabulary() const override { return scorer_.vocabulary(); }
    const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                           int k) override;
    const AllTokens& step_all(const std::vector<std::int32_t>& tokens,
                              const std::vector<std::int32_t>& parents) override;

    // The weights along the path of the hypothesis `target` of one sentence of the batch, found through the
    // back-pointers of the steps.
    AttentionRecord record(const ModelConfig& config, std::int64_t sentence, const RecordedText& source,
                           const RecordedText& target) const;

private:
    struct Step {
        std::vector<std::int32_t> tokens;   // input token of each row
        std::vector<std::int32_t> parents;  // its row in the previous step; in the first step: its sentence
        std::vector<WeightCollector::Observation> seen;
    };
    void note(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents);
    std::vector<std::size_t> path_of(std::int64_t sentence, const std::vector<std::int32_t>& read) const;

    Scorer& scorer_;
    WeightCollector& collector_;
    Backend& backend_;
    std::vector<WeightCollector::Observation> encoder_;
    std::vector<Step> steps_;
};

// A translation and the attention recorded while it was generated.
struct RecordedTranslation {
    Hypothesis hypothesis;
    AttentionRecord record;
};
RecordedTranslation record_translation(Backend& backend, const EncoderDecoder& model, const Tokenizer& target_tokenizer,
                                       const RecordedText& source, const SearchOptions& search,
                                       const RecordOptions& options, const Frame& frame = {});

}  // namespace headscope

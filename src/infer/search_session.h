// A search session over batches of parts, one after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "infer/loaded_model.h"
#include "infer/search_batch.h"
#include "infer/session.h"
#include "infer/text_report.h"

namespace headscope {

class BatchedSearch final : public SearchSession {
public:
    BatchedSearch(Backend& backend, const LoadedModel& model, const std::vector<LinePart*>& parts,
                  const DecodingOptions& options);

    bool step() override;
    std::int64_t tokens() const override { return tokens_ + (batch_ == nullptr ? 0 : batch_->tokens()); }
    std::vector<LinePart*> take_done() override { return std::exchange(done_, {}); }
    std::vector<TextEvent> take_events() override { return std::exchange(events_, {}); }
    void leave(const LinePart& part) override;
    bool joins(const LinePart& part) const override;
    void join(const std::vector<LinePart*>& parts) override;

private:
    struct Reported {
        TextReport report;
        bool anew = true;  // the search has begun since the last event
    };
    void add(const std::vector<LinePart*>& parts);
    void step_batch();
    void halve();
    void collect();
    void report(const LinePart& part, const Hypothesis* result, const SentenceBeam::Written& written);
    void end_batch();

    const LoadedModel& model_;
    Context ctx_;
    std::deque<std::vector<LinePart*>> waiting_;  // batches
    std::unique_ptr<SearchBatch> batch_;          // the one that is searched; null: none
    std::map<const LinePart*, Reported> reports_;
    std::vector<LinePart*> done_;
    std::vector<TextEvent> events_;
    bool shared_ = false;  // it has had several parts
    bool halved_ = false;
    std::int64_t tokens_ = 0;  // of earlier batches
};

}  // namespace headscope

#include "infer/search_session.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "infer/prepared_line.h"
#include "support/check.h"

namespace headscope {

BatchedSearch::BatchedSearch(Backend& backend, const LoadedModel& model, const std::vector<LinePart*>& parts,
                             const DecodingOptions& options)
    : model_(model), ctx_{.backend = backend, .observer = options.observer, .compute = options.compute} {
    for (const LinePart* part : parts) {
        HEADSCOPE_CHECK(share_batch(*part->search, *parts.front()->search), "the parts cannot share a batch");
    }
    if (!parts.empty()) {
        add(parts);
        waiting_.push_back(parts);
    }
}

void BatchedSearch::add(const std::vector<LinePart*>& parts) {
    for (LinePart* part : parts) {
        check_search_options(*part->search);
        if (part->reports) {
            reports_.emplace(part, Reported{TextReport(*model_.model().target_tokenizer, *part)});
        }
    }
}

bool BatchedSearch::step() {
    try {
        step_batch();
    } catch (const OutOfMemory&) {
        halve();
    }
    return batch_ != nullptr || !waiting_.empty();
}

void BatchedSearch::step_batch() {
    if (batch_ != nullptr) {
        batch_->step();
        collect();
    } else if (!waiting_.empty()) {
        batch_ = begin_batch(ctx_, model_, waiting_.front());
        shared_ = batch_->parts().size() > 1;
        std::erase_if(waiting_.front(), [&](const LinePart* part) {
            return std::ranges::find(batch_->parts(), part) != batch_->parts().end();
        });
        if (waiting_.front().empty()) {
            waiting_.pop_front();
        }
    }
}

// What has no result begins anew in two batches. The last of several parts begins anew, too: their memory was kept.
void BatchedSearch::halve() {
    bool shared = false;
    if (batch_ != nullptr) {
        shared = shared_;
        waiting_.push_front(batch_->parts());
        end_batch();
    }
    const std::vector<LinePart*> all = waiting_.front();
    if (all.size() < 2 && !shared) {
        throw;
    }
    halved_ = true;
    if (all.size() > 1) {
        const auto middle = all.begin() + std::ssize(all) / 2;
        waiting_.front() = {middle, all.end()};
        waiting_.emplace_front(all.begin(), middle);
    }
    for (const LinePart* part : all) {
        if (const auto found = reports_.find(part); found != reports_.end()) {
            found->second.anew = true;
        }
    }
}

void BatchedSearch::collect() {
    for (std::size_t i = 0; i < batch_->parts().size();) {
        LinePart* const part = batch_->parts()[i];
        if (batch_->done(i)) {
            std::vector<Hypothesis> results = batch_->hypotheses(i);
            report(*part, &results.front(), {});
            take_hypotheses(*part, std::move(results));
            batch_->remove(i);
            reports_.erase(part);
            done_.push_back(part);
        } else {
            report(*part, nullptr, batch_->written(i));
            ++i;
        }
    }
    if (batch_->parts().empty()) {
        end_batch();
    }
}

// The end of a part, or what it has so far. Only an output without alternatives grows without being looked at.
void BatchedSearch::report(const LinePart& part, const Hypothesis* result, const SentenceBeam::Written& written) {
    const auto found = reports_.find(&part);
    if (found == reports_.end() || (result != nullptr && result->end == EndReason::Unusable)) {
        return;
    }
    auto& [report, anew] = found->second;
    const bool grows = part.search->beam == 1 && !anew && batch_->grows();
    anew = false;
    auto event = result != nullptr ? report.last(*result)
                                   : report.next(written, grows ? std::numeric_limits<std::size_t>::max() : 0);
    if (event) {
        events_.push_back(std::move(*event));
    }
}

void BatchedSearch::end_batch() {
    tokens_ += batch_->tokens();
    batch_.reset();
}

void BatchedSearch::leave(const LinePart& part) {
    for (std::vector<LinePart*>& parts : waiting_) {
        std::erase(parts, &part);
    }
    std::erase_if(waiting_, [](const std::vector<LinePart*>& parts) { return parts.empty(); });
    if (batch_ != nullptr) {
        const auto found = std::ranges::find(batch_->parts(), &part);
        if (found != batch_->parts().end()) {
            batch_->remove(static_cast<std::size_t>(found - batch_->parts().begin()));
        }
        if (batch_->parts().empty()) {
            end_batch();
        }
    }
    std::erase_if(events_, [&](const TextEvent& event) { return event.part == &part; });
    std::erase(done_, &part);
    reports_.erase(&part);
}

// No more rows once memory was too small.
bool BatchedSearch::joins(const LinePart& part) const {
    return batch_ != nullptr && !halved_ && batch_->joins(part);
}

void BatchedSearch::join(const std::vector<LinePart*>& parts) {
    HEADSCOPE_CHECK(std::ranges::all_of(parts, [&](const LinePart* part) { return joins(*part); }),
                    "these parts cannot join the session");
    add(parts);
    batch_->join(parts);
    shared_ = true;
}

}  // namespace headscope

// Decides which batches a device takes from the queue, and when.
#include <algorithm>
#include <numeric>

#include "data/batch.h"
#include "engine/scheduler.h"

namespace headscope {

namespace {

// The size of a batch while others are merged into it.
struct Merged {
    std::int64_t rows = 0;
    std::int64_t longest = 0;

    explicit Merged(const std::vector<TranslationUnit*>& units) : rows(static_cast<std::int64_t>(units.size())) {
        for (const TranslationUnit* unit : units) {
            longest = std::max(longest, static_cast<std::int64_t>(unit->sentence.source_ids.size()));
        }
    }
    bool takes(const Merged& other, std::int64_t budget) const {
        const std::int64_t shorter = padded_length(std::min(longest, other.longest));
        const std::int64_t longer = padded_length(std::max(longest, other.longest));
        return 2 * shorter >= longer && (rows + other.rows) * longer <= budget;
    }
    void add(const Merged& other) {
        rows += other.rows;
        longest = std::max(longest, other.longest);
    }
};

}  // namespace

// How long the device takes for this many tokens at its average speed; zero if it has done no work yet.
Scheduler::Clock::duration Scheduler::expected(const Device& device, std::int64_t tokens) {
    const Service::Share& share = device.share;
    const double each = share.source_tokens > 0 ? share.seconds / static_cast<double>(share.source_tokens) : 0.0;
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(each * static_cast<double>(tokens)));
}

// When a device may take its next batch. One that is late is assumed to be half done.
Scheduler::Clock::time_point Scheduler::free_at(const Device& device, Clock::time_point now) {
    return !device.busy ? now : device.until > now ? device.until : now + (now - device.until);
}

// False if another device would finish the whole queue before this one finishes the next batch. The fastest device may
// always take one, and so may a device without work so far, so that its speed becomes known.
bool Scheduler::may_take(const Device& device) const {
    if (queue_.empty()) {
        return false;
    }
    const Clock::time_point now = Clock::now();
    const Clock::time_point done = now + expected(device, queue_.front().tokens());
    const std::int64_t all = std::accumulate(queue_.begin(), queue_.end(), std::int64_t{0},
                                             [](std::int64_t sum, const Batch& batch) { return sum + batch.tokens(); });
    return std::none_of(devices_.begin(), devices_.end(), [&](const std::unique_ptr<Device>& other) {
        const bool known = other->share.failure.empty() && other->share.source_tokens > 0;
        return other.get() != &device && known && free_at(*other, now) + expected(*other, all) < done;
    });
}

// The oldest batch, and those that are merged with it.
std::vector<Scheduler::Batch> Scheduler::take() {
    std::vector<Batch> taken{queue_.front()};
    queue_.pop_front();
    const TranslationOptions& options = taken.front().job->options;
    Merged shape(taken.front().job->work.units_of(taken.front().index));
    for (auto next = queue_.begin(); next != queue_.end();) {
        const TranslationOptions& own = next->job->options;
        const Merged more(next->job->work.units_of(next->index));
        if (own.search == options.search && shape.takes(more, std::min(options.batch_tokens, own.batch_tokens))) {
            shape.add(more);
            taken.push_back(*next);
            next = queue_.erase(next);
        } else {
            ++next;
        }
    }
    return taken;
}

}  // namespace headscope

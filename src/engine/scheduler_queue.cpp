// Decides which batches a device takes from the queue, and when.
#include <algorithm>
#include <numeric>

#include "data/batch.h"
#include "engine/scheduler.h"

namespace headscope {

namespace {

bool fit_together(const Job::Size& a, const Job::Size& b, std::int64_t budget) {
    const std::int64_t shorter = padded_length(std::min(a.longest, b.longest));
    const std::int64_t longer = padded_length(std::max(a.longest, b.longest));
    return 2 * shorter >= longer && (a.rows + b.rows) * longer <= budget;
}

}  // namespace

// In order of rounds: `first` or last of its own.
void Scheduler::queue(const Batch& batch, bool first) {
    const auto place = first ? std::ranges::lower_bound(queue_, batch.round, {}, &Batch::round)
                             : std::ranges::upper_bound(queue_, batch.round, {}, &Batch::round);
    queue_.insert(place, batch);
}

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
// always take one, and so may a device without work so far, so that its speed becomes known, and one that is to do what
// another could not.
bool Scheduler::may_take(const Device& device) const {
    const auto next = std::ranges::find_if(queue_, [&](const Batch& batch) { return batch.refused_by != &device; });
    if (next == queue_.end()) {
        return false;
    }
    if (next->tried) {
        return true;
    }
    const Clock::time_point now = Clock::now();
    const Clock::time_point done = now + expected(device, next->size().tokens);
    const std::int64_t all =
        std::accumulate(queue_.begin(), queue_.end(), std::int64_t{0},
                        [](std::int64_t sum, const Batch& batch) { return sum + batch.size().tokens; });
    return std::none_of(devices_.begin(), devices_.end(), [&](const std::unique_ptr<Device>& other) {
        const bool known = other->share.failure.empty() && other->share.source_tokens > 0;
        return other.get() != &device && known && free_at(*other, now) + expected(*other, all) < done;
    });
}

// The oldest batch that the device may take, and those that are merged with it.
std::vector<Scheduler::Batch> Scheduler::take(const Device& device) {
    const auto first = std::ranges::find_if(queue_, [&](const Batch& batch) { return batch.refused_by != &device; });
    std::vector<Batch> taken{*first};
    queue_.erase(first);
    round_ = taken.front().round;
    if (taken.front().tried) {
        return taken;
    }
    const Job& job = *taken.front().job;
    Job::Size size = taken.front().size();
    for (auto next = queue_.begin(); next != queue_.end();) {
        const Job::Size& more = next->size();
        const std::int64_t budget = std::min(job.options.batch_tokens, next->job->options.batch_tokens);
        if (!next->tried && fit_together(size, more, budget) && job.joins(*next->job)) {
            size.rows += more.rows;
            size.longest = std::max(size.longest, more.longest);
            taken.push_back(*next);
            next = queue_.erase(next);
        } else {
            ++next;
        }
    }
    return taken;
}

}  // namespace headscope

// Decides which batches a device takes from the queue, and which of its sessions goes on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/batch.h"
#include "engine/failures.h"
#include "engine/scheduler.h"

namespace headscope {

namespace {

constexpr std::size_t kMostSessions = 16;  // on a device
// A session makes this many steps before another one begins beside it: requests that come together share batches, and
// short ones end before the next.
constexpr int kPatience = 16;

// A session looks for more among this many waiting batches, the oldest of each flow, so that a long queue does not hold
// up everybody who needs the lock.
constexpr std::size_t kLooked = 256;

bool fit_together(std::int64_t longest, std::int64_t other_longest, std::int64_t rows, std::int64_t budget) {
    const std::int64_t shorter = padded_length(std::min(longest, other_longest));
    const std::int64_t longer = padded_length(std::max(longest, other_longest));
    return 2 * shorter >= longer && rows * longer <= budget;
}

}  // namespace

// In order of rounds: `first` or last of its own.
void Scheduler::queue(const Batch& batch, bool first) {
    const auto [own, is_new] = flows_.try_emplace(batch.job->key());
    Flow& flow = own->second;
    flow.served = is_new ? served_ : flow.served;
    const auto place = first ? std::ranges::lower_bound(flow.queue, batch.round, {}, &Batch::round)
                             : std::ranges::upper_bound(flow.queue, batch.round, {}, &Batch::round);
    flow.queue.insert(place, batch);
    flow.add(batch, 1);
    ++queued_;
}

// The flows of a session share what a step has cost.
void Scheduler::charge(const Running& running, std::int64_t tokens) {
    for (const Batch& batch : running.batches) {
        Flow& flow = flows_.at(batch.job->key());
        const double share = static_cast<double>(batch.what().works.size()) / static_cast<double>(running.works.size());
        served_ = flow.served;
        flow.served += std::ldexp(share * static_cast<double>(tokens), -batch.job->key().second);
    }
}

void Scheduler::forget(const Job::Key& key) {
    const auto flow = flows_.find(key);
    if (flow != flows_.end() && flow->second.queue.empty() && flow->second.running == 0) {
        flows_.erase(flow);
    }
}

std::int64_t Scheduler::waiting_tokens() const {
    std::int64_t all = 0;
    for (const auto& [key, flow] : flows_) {
        all += flow.tokens;
    }
    return all;
}

// How long the device takes for this many tokens at its average speed; zero if it has done no work yet.
Scheduler::Clock::duration Scheduler::expected(const Member& member, std::int64_t tokens) {
    const DeviceUse& use = member.use;
    const double each = use.source_tokens > 0 ? use.seconds / static_cast<double>(use.source_tokens) : 0.0;
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(each * static_cast<double>(tokens)));
}

// When a device may take its next batch. One that is late is assumed to be half done.
Scheduler::Clock::time_point Scheduler::free_at(const Member& member, Clock::time_point now) {
    return !member.busy ? now : member.until > now ? member.until : now + (now - member.until);
}

// The batch that the device would begin next: the oldest of the flow that is furthest behind. `inside`: of a step of
// another session, which only short steps fit into.
const Scheduler::Batch* Scheduler::next_for(const Member& member, bool inside) const {
    const auto runs_here = [&](const Job& job) {
        return std::ranges::any_of(member.running, [&](const Running& running) {
            return std::ranges::any_of(running.batches, [&](const Batch& batch) { return batch.job.get() == &job; });
        });
    };
    const Batch* next = nullptr;
    double least = 0.0;
    for (const auto& [key, flow] : flows_) {
        const auto own = std::ranges::find_if(flow.queue, [&](const Batch& batch) {
            return (!inside || batch.first().steps()) && batch.refused_by != &member &&
                   member.device->holds(*batch.job->model) && !runs_here(*batch.job);
        });
        if (own == flow.queue.end()) {
            continue;
        }
        if (next == nullptr || flow.served < least) {
            next = &*own;
            least = flow.served;
        }
    }
    return next;
}

// False if another device would finish the whole queue before this one finishes the batch. The fastest device may
// always take one, and so may a device without work so far, so that its speed becomes known, and one that is to do what
// another could not.
bool Scheduler::may_take(const Member& member, const Batch& batch) const {
    if (batch.tried) {
        return true;
    }
    const Clock::time_point now = Clock::now();
    const Clock::time_point done = now + expected(member, batch.what().tokens);
    const std::int64_t all = waiting_tokens();
    return std::ranges::none_of(devices_, [&](const std::unique_ptr<Member>& other) {
        const bool could = other.get() != &member && other.get() != batch.refused_by &&
                           works_for(*other, batch.job->model) && other->use.source_tokens > 0;
        return could && free_at(*other, now) + expected(*other, all) < done;
    });
}

// One that needs all of the device's memory waits until nothing else runs; until then serve() lets nothing join.
bool Scheduler::may_start(const Member& member, const Batch* next) const {
    const auto gives_way = [&](const Running& running) {
        const Batch& first = running.batches.front();
        return !first.alone && (running.steps >= kPatience || first.job->key().second < next->job->key().second);
    };
    return next != nullptr && member.running.size() < kMostSessions && (!next->alone || member.running.empty()) &&
           std::ranges::all_of(member.running, gives_way) && may_take(member, *next);
}

void Scheduler::take(Running& running, Flow& flow, std::deque<Batch>::iterator place) {
    Batch batch = std::move(*place);
    flow.queue.erase(place);
    flow.add(batch, -1);
    ++flow.running;
    running.tokens += batch.what().tokens;
    Job::State& state = batch.job->state;
    ++state.running;
    state.started = state.started.value_or(Clock::now());
    for (const std::unique_ptr<Work>& work : batch.what().works) {
        running.works.push_back({.work = work.get()});
    }
    running.batches.push_back(std::move(batch));
}

bool Scheduler::joins(const Running& running, const Batch& more) const {
    const Batch& first = running.batches.front();
    if (more.tried || more.alone || more.job->model != first.job->model) {
        return false;
    }
    std::int64_t longest = 0;
    for (const Batch& batch : running.batches) {
        longest = std::max(longest, batch.what().longest);
    }
    const auto& works = more.what().works;
    const std::int64_t budget = std::min(first.first().most_together(), more.first().most_together());
    if (!fit_together(longest, more.what().longest, std::ssize(running.works) + std::ssize(works), budget)) {
        return false;
    }
    return running.session == nullptr
               ? first.first().joins(more.first())
               : more.job->joins() &&
                     std::ranges::all_of(works, [&](const auto& work) { return running.session->joins(*work); });
}

// Takes batches that fit into a session, before or after its first step. Returns whether there were any.
bool Scheduler::take_joining(Running& running) {
    const Batch& first = running.batches.front();
    if (first.tried || first.alone || std::exchange(running.looked, queued_) == queued_) {
        return false;
    }
    const std::size_t before = running.batches.size();
    const std::size_t of_each = std::max<std::size_t>(1, kLooked / std::max<std::size_t>(1, flows_.size()));
    for (auto& [key, flow] : flows_) {
        std::size_t looked = 0;
        for (std::size_t i = 0; i < flow.queue.size() && looked < of_each; ++looked) {
            const Batch& more = flow.queue[i];
            if (!joins(running, more)) {
                ++i;
                continue;
            }
            if (running.session != nullptr) {
                std::vector<Work*> joining;
                std::ranges::transform(more.what().works, std::back_inserter(joining), &std::unique_ptr<Work>::get);
                running.session->join(joining);
            }
            take(running, flow, flow.queue.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    return running.batches.size() > before;
}

// Begins a batch of the queue, and those that are merged with it.
void Scheduler::start(Member& member, const Batch& next) {
    Running& running = member.running.emplace_back();
    Flow& flow = flows_.at(next.job->key());
    flow.round = next.round;
    take(running, flow, std::ranges::find_if(flow.queue, [&](const Batch& batch) { return &batch == &next; }));
    take_joining(running);
    statistics_.batch_rows.add(static_cast<double>(running.works.size()));
    const Clock::time_point now = Clock::now();
    member.until = std::max(member.busy ? member.until : now, now) + expected(member, running.tokens);
    member.busy = true;
}

// What the flow of a session that is furthest behind has got.
double Scheduler::served_to(const Running& running) const {
    double least = flows_.at(running.batches.front().job->key()).served;
    for (const Batch& batch : running.batches) {
        least = std::min(least, flows_.at(batch.job->key()).served);
    }
    return least;
}

// The session that goes on, of those that may. Ties go to the one that has waited longest, which is the first.
std::list<Scheduler::Running>::iterator Scheduler::furthest_behind(
    Member& member, const std::function<bool(const Running& running)>& may) {
    auto found = member.running.end();
    for (auto running = member.running.begin(); running != member.running.end(); ++running) {
        if (may(*running) && (found == member.running.end() || served_to(*running) < served_to(*found))) {
            found = running;
        }
    }
    return found;
}

void Scheduler::refuse_surplus(const Job& job) {
    if (!job.counts()) {
        return;
    }
    std::int64_t tokens = 0;
    for (const Job::Batch& batch : job.batches()) {
        tokens += batch.tokens;
    }
    std::int64_t waiting = 0, of_client = 0;
    for (const auto& [key, flow] : flows_) {
        waiting += flow.counted;
        of_client += key.first == job.terms.client ? flow.counted : 0;
    }
    std::string why;
    if (counted_ >= bounds_.requests) {
        why = fmt::format("{} requests are open, as many as the engine takes (Bounds::requests)", counted_);
    } else if (waiting > 0 && waiting + tokens > bounds_.tokens) {
        why = fmt::format("{} tokens wait, and the engine takes {} (Bounds::tokens)", waiting, bounds_.tokens);
    } else if (of_client > 0 && of_client + tokens > bounds_.tokens_of_client) {
        why = fmt::format("{} tokens of this client wait, and the engine takes {} (Bounds::tokens_of_client)",
                          of_client, bounds_.tokens_of_client);
    } else {
        return;
    }
    double speed = 0.0;  // tokens a second
    for (const auto& member : devices_) {
        const DeviceUse& use = member->use;
        speed += use.failure.empty() && use.seconds > 0.0 ? static_cast<double>(use.source_tokens) / use.seconds : 0.0;
    }
    constexpr double kLeast = 0.1;
    const double seconds = speed > 0.0 ? std::max(kLeast, static_cast<double>(waiting_tokens()) / speed) : 1.0;
    ++statistics_.busy;
    throw Busy(fmt::format("{}: try again in {:.1f} s, when some have ended", why, seconds),
               std::chrono::milliseconds(std::llround(1000.0 * seconds)));
}

}  // namespace headscope

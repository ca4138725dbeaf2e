// What becomes of batches that a device has tried, and of the device.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/failures.h"
#include "engine/scheduler.h"

namespace headscope {

// `failure`: why the device is given up, or null.
void Scheduler::finish(Member& member, Running& running, const std::exception_ptr& failure, Leavings& left) {
    if (failure == nullptr) {
        ++member.use.batches;
        member.use.peak_bytes = member.device->peak_bytes();
    }
    std::span<const Attempted> rest(running.works);
    for (const Batch& batch : running.batches) {
        settle_batch(member, batch, rest.first(batch.what().works.size()), failure, left);
        rest = rest.subspan(batch.what().works.size());
    }
    if (failure != nullptr) {
        give_up(member, failure, left);
    }
}

// Batches that are done before the rest of their session leave it.
void Scheduler::settle_done(Member& member, Running& running, Leavings& left) {
    std::size_t first = 0;
    for (auto batch = running.batches.begin(); batch != running.batches.end();) {
        const std::span<Attempted> own = std::span(running.works).subspan(first, batch->what().works.size());
        if (!std::ranges::all_of(own, &Attempted::done)) {
            first += own.size();
            ++batch;
            continue;
        }
        settle_batch(member, *batch, own, nullptr, left);
        const auto begin = running.works.begin() + static_cast<std::ptrdiff_t>(first);
        running.works.erase(begin, begin + std::ssize(own));
        batch = running.batches.erase(batch);
        running.looked = 0;  // there is room
    }
}

void Scheduler::settle_batch(Member& member, const Batch& batch, std::span<const Attempted> works,
                             const std::exception_ptr& failure, Leavings& left) {
    if (failure == nullptr) {
        member.use.source_tokens += batch.what().tokens;
        for (const Attempted& each : works) {
            member.use.sentences += each.done ? 1 : 0;
            member.use.target_tokens += each.done ? each.work->written() : 0;
        }
    }
    if (!batch.job->state.ended && ends(member, batch, works, failure, left)) {
        withdraw(batch.job, batch.job->state.failure);
        left.ended.push_back(batch.job);
    }
    release(batch, left);
}

// A device no longer works on the batch, once the session is destroyed.
void Scheduler::release(const Batch& batch, Leavings& left) {
    --flows_.at(batch.job->key()).running;
    forget(batch.job->key());
    left.released.push_back(batch.job);
}

// Returns whether the batch's job has failed.
bool Scheduler::ends(Member& member, const Batch& batch, std::span<const Attempted> works,
                     const std::exception_ptr& failure, Leavings& left) {
    Job& job = *batch.job;
    if (const std::exception_ptr thrown = job.callback_failure()) {
        job.state.failure = thrown;
        return true;
    }
    const auto undone = std::ranges::find(works, false, &Attempted::done);
    if (undone != works.end()) {
        const bool another_may = std::ranges::all_of(
            works, [](const Attempted& each) { return each.why == nullptr || classify(each.why) != Fault::Request; });
        const bool once = !batch.tried;
        if (failure != nullptr ? once || working_ == 1 : once && another_may && held(job.model, &member)) {
            Batch again = batch;
            again.tried = true;
            again.refused_by = &member;
            queue(again, true);
            return false;
        }
        if (!survives(batch, works, failure)) {
            return true;
        }
    }
    job.state.succeeded += static_cast<std::size_t>(std::ranges::count(works, true, &Attempted::done));
    left.finished.emplace_back(batch.job, batch.index);
    return false;
}

// Whether the batch's job goes on without the works that failed.
bool Scheduler::survives(const Batch& batch, std::span<const Attempted> works,
                         const std::exception_ptr& device_failure) {
    for (const Attempted& each : works) {
        if (each.done) {
            continue;
        }
        std::exception_ptr why = each.why != nullptr ? each.why : device_failure;
        if (why != nullptr && classify(why) == Fault::OutOfMemory) {
            ++statistics_.too_large;
            why = std::make_exception_ptr(TooLarge("the request is too large for the device: " + what_of(why)));
        }
        if (!batch.job->survives(*each.work, why)) {
            batch.job->state.failure = why;
            return false;
        }
    }
    return true;
}

void Scheduler::give_up(Member& member, const std::exception_ptr& failure, Leavings& left) {
    member.use.failure = what_of(failure).empty() ? "an error without a message" : what_of(failure);
    last_failure_ = failure;
    --working_;
    for (const Running& innocent : member.running) {
        put_back(innocent, false, left);
    }
    left.sessions.splice(left.sessions.end(), member.running);
    for (auto& [key, flow] : flows_) {
        for (Batch& batch : flow.queue) {  // if nobody else is left to try what a device has refused, it does
            batch.refused_by = held(batch.job->model, batch.refused_by) ? batch.refused_by : nullptr;
        }
    }
    end_unheld(left);
}

// Ends the jobs whose model no device holds any more, except those whose last batches have just been done.
void Scheduler::end_unheld(Leavings& left) {
    const Jobs open = open_;
    for (const std::shared_ptr<Job>& job : open) {
        const auto done = std::ranges::count_if(left.finished, [&](const auto& one) { return one.first == job; });
        if (!held(job->model) && static_cast<std::size_t>(done) < job->state.waiting) {
            withdraw(job, no_device_left(*job->model));
            left.ended.push_back(job);
        }
    }
}

bool Scheduler::works_for(const Member& member, const ModelHandle& model) {
    return member.use.failure.empty() && std::ranges::any_of(member.models, [&](const auto& one) {
               return !one.owner_before(model) && !model.owner_before(one);
           });
}

// Whether a working device, other than one, has loaded the model.
bool Scheduler::held(const ModelHandle& model, const Member* other_than) const {
    return std::ranges::any_of(devices_, [&](const std::unique_ptr<Member>& member) {
        return member.get() != other_than && works_for(*member, model);
    });
}

// The works were not to blame for what ended their session.
void Scheduler::put_back(const Running& running, bool alone, Leavings& left) {
    for (const Batch& batch : running.batches) {
        if (!batch.job->state.ended) {
            Batch again = batch;
            again.alone = alone;
            queue(again, true);
        }
        release(batch, left);
    }
}

std::exception_ptr Scheduler::no_device_left(const OpenModel& model) const {
    if (model.refuses()) {
        return std::make_exception_ptr(Closed(model.directory().path + " was unloaded: load it first"));
    }
    if (working_ > 0) {
        return std::make_exception_ptr(
            Error(fmt::format("{} is not loaded on any device: load it first", model.directory().path)));
    }
    if (devices_.size() == 1) {
        return last_failure_;
    }
    return std::make_exception_ptr(Error("no device is left; the last one failed: " + what_of(last_failure_)));
}

// The caller must call close_all() without the lock.
void Scheduler::withdraw(const std::shared_ptr<Job>& job, const std::exception_ptr& why) {
    if (why != nullptr) {
        job->stop();
    }
    Job::State& state = job->state;
    state.failure = why;
    state.ended = true;
    counted_ -= std::erase(open_, job) > 0 && job->counts() ? 1 : 0;
    if (const auto own = flows_.find(job->key()); state.waiting > 0 && own != flows_.end()) {
        std::erase_if(own->second.queue, [&](const Batch& batch) {
            own->second.add(batch, batch.job == job ? -1 : 0);
            return batch.job == job;
        });
        forget(job->key());
    }
    count(*job);
}

void Scheduler::count(const Job& job) {
    const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
    const Job::State& state = job.state;
    const Clock::time_point now = Clock::now();
    statistics_.queue_seconds.add(seconds(state.started.value_or(now) - state.queued));
    if (const std::optional<Clock::time_point> first = job.first()) {
        statistics_.first_seconds.add(seconds(*first - state.queued));
    }
    if (state.started) {
        statistics_.run_seconds.add(seconds(now - *state.started));
    }
    if (state.failure == nullptr) {
        ++statistics_.answered;
        return;
    }
    try {
        std::rethrow_exception(state.failure);
    } catch (const Cancelled&) {
        ++statistics_.cancelled;
    } catch (const DeadlineExceeded&) {
        ++statistics_.late;
    } catch (...) {
        ++statistics_.failed;
    }
}

// Called without the lock. The last batch of a job ends it.
void Scheduler::let_go(Leavings& left) {
    left.sessions.clear();
    for (const auto& [job, batch] : left.finished) {
        try {
            job->finished(batch);
        } catch (...) {
            job->blame(std::current_exception());
        }
    }
    if (!left.released.empty()) {
        const std::lock_guard lock(mutex_);
        for (const std::shared_ptr<Job>& job : left.released) {
            --job->state.running;
        }
        for (const auto& [job, batch] : left.finished) {
            const bool last = --job->state.waiting == 0;
            const std::exception_ptr failure = job->callback_failure();
            if (!job->state.ended && (last || failure != nullptr)) {
                withdraw(job, failure);
                left.ended.push_back(job);
            }
        }
    }
    close_all(left.ended);
    left = {};
}

// Called without the lock: whoever waits may call the engine again.
void Scheduler::close_all(const Jobs& ended) {
    for (const std::shared_ptr<Job>& job : ended) {
        job->end(job->state.failure);
    }
    ended_.notify_all();
}

}  // namespace headscope

// What becomes of batches that a device has tried, and of the device.
#include <algorithm>
#include <span>

#include "engine/scheduler.h"
#include "support/check.h"

namespace headscope {

// Of what a working device has tried.
void Scheduler::count(Device& device, const std::vector<Batch>& batches, const std::vector<Attempted>& units,
                      Clock::duration time) {
    Service::Share& share = device.share;
    ++share.batches;
    share.seconds += std::chrono::duration<double>(time).count();
    for (const Batch& batch : batches) {
        share.source_tokens += batch.size().tokens;
    }
    for (const Attempted& each : units) {
        share.sentences += each.done ? 1 : 0;
        share.target_tokens += each.done ? std::ssize(each.unit->sentence.target_ids) : 0;
    }
}

// `failure`: why the device is given up, or null. Returns the jobs that have ended.
Scheduler::Jobs Scheduler::finish(Device& device, const std::vector<Batch>& batches,
                                  const std::vector<Attempted>& units, const std::exception_ptr& failure) {
    device.busy = false;
    Jobs ended;
    std::span<const Attempted> rest(units);
    for (const Batch& batch : batches) {
        const std::span<const Attempted> own = rest.first(static_cast<std::size_t>(batch.size().rows));
        rest = rest.subspan(own.size());
        --batch.job->running;
        if (batch.job->failure == nullptr && settle(device, batch, own, failure)) {
            std::erase(open_, batch.job);
            ended.push_back(batch.job);
        }
    }
    if (failure != nullptr) {
        const Jobs failed = give_up(device, failure);
        ended.insert(ended.end(), failed.begin(), failed.end());
    }
    return ended;
}

// Returns whether the batch's job has ended.
bool Scheduler::settle(Device& device, const Batch& batch, std::span<const Attempted> units,
                       const std::exception_ptr& failure) {
    Job& job = *batch.job;
    if (const std::exception_ptr thrown = job.callback_failure()) {
        withdraw(batch.job, thrown);
        return true;
    }
    const auto undone = std::ranges::find(units, false, &Attempted::done);
    if (undone != units.end()) {
        const bool another_may = std::ranges::all_of(
            units, [](const Attempted& each) { return each.why == nullptr || depends_on_device(each.why); });
        const bool once = !batch.tried;
        if (failure != nullptr ? once || working_ == 1 : once && working_ > 1 && another_may) {
            Batch again = batch;
            again.tried = true;
            again.refused_by = &device;
            queue(again, true);
            return false;
        }
        if (fail(batch, units, failure)) {
            return true;
        }
    }
    job.succeeded += static_cast<std::size_t>(std::ranges::count(units, true, &Attempted::done));
    job.work.done(batch.index);
    job.news = true;
    return job.work.finished() == job.work.lines();
}

// Gives the job of a request its own failure, and a line of a text a problem. Returns whether the job has ended.
bool Scheduler::fail(const Batch& batch, std::span<const Attempted> units, const std::exception_ptr& device_failure) {
    constexpr std::size_t kAllOfFirst = 8;  // units that fail before any succeeds: so will the others
    Job& job = *batch.job;
    std::exception_ptr last;
    for (const Attempted& each : units) {
        if (!each.done) {
            ++job.failed;
            last = each.why != nullptr ? each.why : device_failure;
            each.unit->sentence.problem = what_of(last);
            each.unit->sentence.n_best.clear();
        }
    }
    const bool ends = job.answer != nullptr || (job.succeeded == 0 && job.failed >= kAllOfFirst);
    if (ends) {
        withdraw(batch.job, last);
    }
    return ends;
}

// Returns the jobs that fail because this was the last device.
Scheduler::Jobs Scheduler::give_up(Device& device, const std::exception_ptr& failure) {
    device.share.failure = what_of(failure).empty() ? "an error without a message" : what_of(failure);
    last_failure_ = failure;
    if (--working_ == 1) {  // nobody else is left to try what a device has refused
        std::ranges::for_each(queue_, [](Batch& batch) { batch.refused_by = nullptr; });
    }
    if (working_ > 0) {
        return {};
    }
    const Jobs failed = open_;
    for (const std::shared_ptr<Job>& job : failed) {
        withdraw(job, no_device_left());
    }
    return failed;
}

}  // namespace headscope

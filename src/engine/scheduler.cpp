#include "engine/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "support/check.h"

namespace headscope {

namespace {

// Called without the lock: the callbacks may call the service again.
void answer(const std::vector<std::shared_ptr<Job>>& ended) {
    for (const std::shared_ptr<Job>& job : ended) {
        if (job->answer != nullptr) {
            job->answer(*job);
        }
    }
}

}  // namespace

Scheduler::Scheduler(std::vector<Service::Member> members, Service::Warn warn)
    : warn_(std::move(warn)), working_(members.size()) {
    for (Service::Member& member : members) {
        auto device = std::make_unique<Device>();
        device->translator = member.translator;
        device->share.name = member.name;
        device->member = std::move(member);
        devices_.push_back(std::move(device));
    }
    for (const auto& device : devices_) {
        threads_.emplace_back([this, &device = *device] { work(device); });
    }
    threads_.emplace_back([this] { watch_deadlines(); });
}

Scheduler::~Scheduler() {
    close();
}

void Scheduler::close() {
    Jobs ended;
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
        ended = open_;
        for (const std::shared_ptr<Job>& job : ended) {
            withdraw(job, std::make_exception_ptr(Cancelled("the service was shut down")));
        }
    }
    changed_.notify_all();
    answer(ended);
    for (std::thread& thread : std::exchange(threads_, {})) {
        thread.join();
    }
}

void Scheduler::add(const std::shared_ptr<Job>& job) {
    {
        const std::lock_guard lock(mutex_);
        if (job->work.finished() < job->work.lines()) {
            if (working_ == 0) {
                job->failure = no_device_left();
            } else {
                open_.push_back(job);
                for (std::size_t batch = 0; batch < job->work.batches(); ++batch) {
                    queue_.push_back({job, batch});
                }
                changed_.notify_all();
                return;
            }
        }
    }
    answer({job});
}

void Scheduler::follow(const std::shared_ptr<Job>& job, const TranslatedSink& sink) {
    std::unique_lock lock(mutex_);
    try {
        for (bool first = true;; first = false) {
            changed_.wait(lock, [&] { return first || job->news || job->failure != nullptr; });
            job->news = false;
            std::vector<TranslatedSentence> next = job->work.next();
            const std::size_t finished = job->work.finished();
            const std::exception_ptr failure = finished < job->work.lines() ? job->failure : nullptr;
            lock.unlock();
            sink(std::move(next), finished);
            if (failure != nullptr) {
                std::rethrow_exception(failure);
            }
            if (finished == job->work.lines()) {
                return;
            }
            lock.lock();
        }
    } catch (...) {
        if (!lock.owns_lock()) {
            lock.lock();
        }
        withdraw(job, std::current_exception());
        changed_.wait(lock, [&] { return job->running == 0; });
        throw;
    }
}

void Scheduler::end(const std::shared_ptr<Job>& job, std::exception_ptr why) {
    {
        const std::lock_guard lock(mutex_);
        if (std::find(open_.begin(), open_.end(), job) == open_.end()) {
            return;
        }
        withdraw(job, why);
    }
    changed_.notify_all();
    answer({job});
}

// Called with the lock held. The caller must call answer().
void Scheduler::withdraw(const std::shared_ptr<Job>& job, const std::exception_ptr& why) {
    job->stop();
    job->failure = why;
    std::erase(open_, job);
    std::erase_if(queue_, [&](const Batch& batch) { return batch.job == job; });
}

std::vector<Service::Share> Scheduler::shares() const {
    const std::lock_guard lock(mutex_);
    std::vector<Service::Share> shares;
    std::transform(devices_.begin(), devices_.end(), std::back_inserter(shares),
                   [](const auto& device) { return device->share; });
    return shares;
}

// The loop of a device's thread.
void Scheduler::work(Device& device) {
    // A device that leaves a batch to another checks again: the other may take longer than expected.
    constexpr std::chrono::milliseconds kRecheck(20);
    std::unique_lock lock(mutex_);
    for (;;) {
        while (!closing_ && !may_take(device)) {
            if (queue_.empty()) {
                changed_.wait(lock);
            } else {
                changed_.wait_for(lock, kRecheck);
            }
        }
        if (closing_) {
            return;
        }
        const std::vector<Batch> batches = take();
        std::vector<TranslationUnit*> units;
        const Clock::time_point begin = Clock::now();
        const std::int64_t tokens =
            std::accumulate(batches.begin(), batches.end(), std::int64_t{0},
                            [](std::int64_t sum, const Batch& batch) { return sum + batch.tokens(); });
        device.busy = true;
        device.until = begin + expected(device, tokens);
        for (const Batch& batch : batches) {
            ++batch.job->running;
            const std::vector<TranslationUnit*> own = batch.job->work.units_of(batch.index);
            units.insert(units.end(), own.begin(), own.end());
        }
        lock.unlock();
        const std::exception_ptr failure = translate(device, batches, units);
        lock.lock();
        device.busy = false;
        Jobs ended;
        for (const Batch& batch : batches) {
            --batch.job->running;
        }
        if (failure == nullptr) {
            ended = finish(device, batches, units, std::chrono::duration<double>(Clock::now() - begin).count());
        } else {
            for (auto batch = batches.rbegin(); batch != batches.rend(); ++batch) {
                if (batch->job->failure == nullptr) {
                    queue_.push_front(*batch);
                }
            }
            ended = give_up(device, failure);
        }
        changed_.notify_all();
        lock.unlock();
        answer(ended);
        if (failure != nullptr) {
            return;
        }
        lock.lock();
    }
}

// Returns null on success. Called without the lock.
std::exception_ptr Scheduler::translate(Device& device, const std::vector<Batch>& batches,
                                        std::vector<TranslationUnit*>& units) {
    TranslationOptions options = batches.front().job->options;
    options.compute = device.member.compute;
    const auto work = [&] { device.translator->translate_units(units, options); };
    try {
        if (device.member.reopen == nullptr) {
            work();
            return nullptr;
        }
        with_fresh_device(
            device.chance, work, [&] { device.translator = device.member.reopen(); },
            [&](const std::string& what) {
                report(fmt::format("reopened {} after a failure: {}", device.member.name, what));
            });
        return nullptr;
    } catch (...) {
        const std::exception_ptr failure = std::current_exception();
        bool others = false;
        {
            const std::lock_guard lock(mutex_);
            others = working_ > 1;
        }
        if (others) {
            report(fmt::format("{} failed; the other devices take over its work: {}", device.member.name,
                               what_of(failure)));
        }
        return failure;
    }
}

void Scheduler::report(const std::string& message) {
    const std::lock_guard lock(warn_mutex_);
    warn_(message);
}

// Returns the jobs that are now done.
Scheduler::Jobs Scheduler::finish(Device& device, const std::vector<Batch>& batches,
                                  const std::vector<TranslationUnit*>& units, double seconds) {
    Service::Share& share = device.share;
    ++share.batches;
    share.sentences += static_cast<std::int64_t>(units.size());
    share.seconds += seconds;
    for (const TranslationUnit* unit : units) {
        share.target_tokens += static_cast<std::int64_t>(unit->sentence.target_ids.size());
    }
    Jobs done;
    for (const Batch& batch : batches) {
        share.source_tokens += batch.tokens();
        Job& job = *batch.job;
        if (job.failure != nullptr) {
            continue;
        }
        job.work.done(batch.index);
        job.news = true;
        if (job.work.finished() == job.work.lines()) {
            std::erase(open_, batch.job);
            done.push_back(batch.job);
        }
    }
    return done;
}

// Returns the jobs that fail because this was the last device.
Scheduler::Jobs Scheduler::give_up(Device& device, const std::exception_ptr& failure) {
    device.share.failure = what_of(failure);
    last_failure_ = failure;
    if (--working_ > 0) {
        return {};
    }
    const Jobs failed = open_;
    for (const std::shared_ptr<Job>& job : failed) {
        withdraw(job, no_device_left());
    }
    return failed;
}

std::exception_ptr Scheduler::no_device_left() const {
    if (devices_.size() == 1) {
        return last_failure_;
    }
    return std::make_exception_ptr(
        Error("no device is left to translate on; the last one failed: " + what_of(last_failure_)));
}

// Runs on its own thread, because devices may be busy for longer than a request waits.
void Scheduler::watch_deadlines() {
    std::unique_lock lock(mutex_);
    while (!closing_) {
        const Clock::time_point now = Clock::now();
        std::optional<Clock::time_point> nearest;
        Jobs late;
        for (const std::shared_ptr<Job>& job : open_) {
            if (job->deadline && *job->deadline <= now) {
                late.push_back(job);
            } else if (job->deadline && (!nearest || *job->deadline < *nearest)) {
                nearest = job->deadline;
            }
        }
        if (!late.empty()) {
            for (const std::shared_ptr<Job>& job : late) {
                withdraw(job, std::make_exception_ptr(DeadlineExceeded("the request's deadline has passed")));
            }
            lock.unlock();
            changed_.notify_all();
            answer(late);
            lock.lock();
        } else if (nearest) {
            changed_.wait_until(lock, *nearest);
        } else {
            changed_.wait(lock);
        }
    }
}

}  // namespace headscope

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

Scheduler::Scheduler(std::vector<Service::Member> members, Service::Warn warn, std::size_t most_requests)
    : most_requests_(most_requests), warn_(std::move(warn)), working_(members.size()) {
    for (Service::Member& member : members) {
        const auto tell = [this](const std::string& message) { report(message); };
        devices_.push_back(std::make_unique<Device>(Device{.device = ServiceDevice(std::move(member), tell)}));
        devices_.back()->share.name = devices_.back()->device.name();
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
                refuse_surplus(*job);
                open_.push_back(job);
                for (std::size_t batch = 0; batch < job->work.batches(); ++batch) {
                    queue({.job = job, .index = batch, .round = round_ + 1 + batch}, false);
                }
                changed_.notify_all();
                return;
            }
        }
    }
    answer({job});
}

// Whoever waits in follow() adds no second job, so that only requests pile up.
void Scheduler::refuse_surplus(const Job& job) const {
    const auto is_request = [](const std::shared_ptr<Job>& open) { return open->answer != nullptr; };
    const auto requests = static_cast<std::size_t>(std::ranges::count_if(open_, is_request));
    if (job.answer != nullptr && requests >= most_requests_) {
        throw Busy(
            fmt::format("{} requests are open, as many as the service takes (ServiceOptions::most_requests): "
                        "try again when some have ended",
                        requests));
    }
}

void Scheduler::follow(const std::shared_ptr<Job>& job, const ResultSink& sink) {
    std::unique_lock lock(mutex_);
    try {
        for (bool first = true;; first = false) {
            changed_.wait(lock, [&] { return first || job->news || job->failure != nullptr; });
            job->news = false;
            std::vector<TextResult> next = job->work.next();
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
        const std::vector<Batch> batches = take(device);
        const Clock::time_point start = Clock::now();
        std::vector<Attempted> units = begin(device, batches);
        lock.unlock();
        const std::exception_ptr failure = attempt(device.device, known_, units, batches.front().job->options);
        lock.lock();
        if (failure == nullptr) {
            count(device, batches, units, Clock::now() - start);
        }
        const Jobs ended = finish(device, batches, units, failure);
        const bool others = working_ > 0;
        changed_.notify_all();
        lock.unlock();
        if (failure != nullptr && others) {
            report(fmt::format("{} failed; the other devices take over its work: {}", device.device.name(),
                               what_of(failure)));
        }
        answer(ended);
        if (failure != nullptr) {
            return;
        }
        lock.lock();
    }
}

std::vector<Attempted> Scheduler::begin(Device& device, const std::vector<Batch>& batches) {
    std::vector<Attempted> units;
    std::int64_t tokens = 0;
    for (const Batch& batch : batches) {
        ++batch.job->running;
        tokens += batch.size().tokens;
        for (LinePart* unit : batch.job->work.units_of(batch.index)) {
            units.push_back({.unit = unit, .job = batch.job.get()});
        }
    }
    device.busy = true;
    device.until = Clock::now() + expected(device, tokens);
    return units;
}

void Scheduler::report(const std::string& message) {
    const std::lock_guard lock(warn_mutex_);
    try {
        warn_(message);
    } catch (...) {  // nobody is left to tell, and the device's thread goes on
    }
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

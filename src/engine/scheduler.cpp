#include "engine/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <utility>

#include "engine/failures.h"
#include "support/check.h"

namespace headscope {

Scheduler::Scheduler(Bounds bounds, Log log) : bounds_(bounds), log_(std::move(log)) {
    deadlines_ = std::thread([this] { watch_deadlines(); });
}

Scheduler::~Scheduler() {
    close();
}

void Scheduler::add_device(const std::string& id, Precision precision, const Device::Open& open) {
    auto fresh = std::make_unique<Member>();
    Member& member = *fresh;
    const auto closing = [&member] {
        for (Running& running : member.running) {
            running.session.reset();
        }
    };
    const auto tell = [this](const std::string& message) { report(message); };
    member.device = std::make_unique<Device>(id, precision, open, Device::Hooks{.closing = closing, .report = tell});
    std::promise<void> opened;
    std::future<void> done = opened.get_future();
    member.thread = std::thread([this, &member, opened = std::move(opened)]() mutable {
        try {
            member.device->open();
        } catch (...) {
            opened.set_exception(std::current_exception());
            return;
        }
        opened.set_value();
        serve(member);
        member.device->close();
    });
    try {
        done.get();
    } catch (...) {
        member.thread.join();
        throw;
    }
    const std::lock_guard lock(mutex_);
    const auto copies = 1 + std::ranges::count(devices_, member.device->info().id,
                                               [](const auto& other) { return other->use.info.id; });
    member.use.info = member.device->info();
    member.use.arithmetic = member.device->arithmetic();
    member.use.name = copies == 1 ? member.use.info.id : fmt::format("{} ({})", member.use.info.id, copies);
    member.device->set_name(member.use.name);
    member.use.peak_bytes = member.device->peak_bytes();
    devices_.push_back(std::move(fresh));
    ++working_;
}

void Scheduler::load_on(std::size_t index, const ModelHandle& model,
                        const std::function<void(const LoadedModel& loaded)>& look) {
    Member& member = *devices_[index];
    std::future<void> loaded;
    {
        const std::lock_guard lock(mutex_);
        if (closing_) {
            throw Closed("the engine takes no more models: it is being closed");
        }
        if (!member.use.failure.empty()) {
            throw Error(fmt::format("{} was given up: {}", member.use.name, member.use.failure));
        }
        loaded = member.tasks
                     .emplace_back([&] {
                         load(member, model);
                         look(member.device->place(*model, {}).model);
                     })
                     .get_future();
    }
    changed_.notify_all();
    try {
        loaded.get();
    } catch (const std::future_error&) {
        throw Error(fmt::format("{} was closed before it loaded the model", member.use.name));
    }
}

// A device that is lost by it, and again after it was reopened, or cannot be reopened, is given up.
void Scheduler::load(Member& member, const ModelHandle& model) {
    try {
        member.device->load(model);
    } catch (...) {
        if (member.device->is_open() && classify(std::current_exception()) != Fault::DeviceLost) {
            throw;
        }
        Leavings left;
        {
            const std::lock_guard lock(mutex_);
            give_up(member, std::current_exception(), left);
        }
        let_go(left);
        throw;
    }
    const std::lock_guard lock(mutex_);
    member.models.emplace_back(model);
    member.use.peak_bytes = member.device->peak_bytes();
}

void Scheduler::close() {
    Jobs ended;
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
        ended = open_;
        for (const std::shared_ptr<Job>& job : ended) {
            withdraw(job, std::make_exception_ptr(Cancelled("the engine was closed")));
        }
    }
    changed_.notify_all();
    deadline_.notify_all();
    close_all(ended);
    const std::lock_guard joining(join_mutex_);
    for (const std::unique_ptr<Member>& member : devices_) {
        if (member->thread.joinable()) {
            member->thread.join();
        }
    }
    if (deadlines_.joinable()) {
        deadlines_.join();
    }
}

bool Scheduler::drain(Clock::duration longest) {
    std::unique_lock lock(mutex_);
    draining_ = true;
    return ended_.wait_for(lock, longest, [&] { return open_.empty(); });
}

void Scheduler::add(const std::shared_ptr<Job>& job) {
    {
        const std::lock_guard lock(mutex_);
        if (closing_ || draining_) {
            throw Closed("the engine takes no more requests: it is being closed");
        }
        Job::State& state = job->state;
        state.queued = Clock::now();
        if (state.waiting > 0 && held(job->model) && !job->model->refuses()) {
            refuse_surplus(*job);
            open_.push_back(job);
            counted_ += job->counts() ? 1 : 0;
            const auto flow = flows_.find(job->key());
            const std::uint64_t round = flow == flows_.end() ? 0 : flow->second.round;
            for (std::size_t batch = 0; batch < job->batches().size(); ++batch) {
                queue({.job = job, .index = batch, .round = round + 1 + batch}, false);
            }
            changed_.notify_all();
            if (job->terms.deadline) {
                deadline_.notify_all();
            }
            return;
        }
        withdraw(job, state.waiting > 0 ? no_device_left(*job->model) : nullptr);
    }
    close_all({job});
}

void Scheduler::end(const std::shared_ptr<Job>& job, const std::exception_ptr& why) {
    {
        const std::lock_guard lock(mutex_);
        if (job->state.ended || std::ranges::find(open_, job) == open_.end()) {
            return;
        }
        withdraw(job, why);
    }
    changed_.notify_all();
    close_all({job});
}

void Scheduler::settle(const Job& job) {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return job.state.ended && job.state.running == 0; });
}

std::vector<DeviceUse> Scheduler::uses() const {
    const std::lock_guard lock(mutex_);
    std::vector<DeviceUse> uses;
    std::ranges::transform(devices_, std::back_inserter(uses), [](const auto& member) { return member->use; });
    return uses;
}

EngineStatistics Scheduler::statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
}

// The loop of a device's thread.
void Scheduler::serve(Member& member) {
    // A device that leaves a batch to another checks again: the other may take longer than expected.
    constexpr std::chrono::milliseconds kRecheck(20);
    Lock lock(mutex_);
    while (!closing_ && member.use.failure.empty()) {
        if (!member.tasks.empty()) {
            std::packaged_task<void()> task = std::move(member.tasks.front());
            member.tasks.pop_front();
            lock.unlock();
            task();
            lock.lock();
            continue;
        }
        if (std::exchange(member.freed, freed_) != freed_) {
            lock.unlock();
            member.device->free_unused();
            lock.lock();
            continue;
        }
        Leavings left;
        drop_freed(member, left);
        drop_stopped(member, left);
        if (!left.empty()) {
            lock.unlock();
            let_go(left);
            lock.lock();
            continue;
        }
        const auto failed =
            std::ranges::find_if(member.running, [](const Running& running) { return running.failure != nullptr; });
        if (failed != member.running.end()) {
            step(member, failed, lock, false);
            continue;
        }
        const Batch* next = next_for(member, false);
        if (next == nullptr || !next->alone) {
            bool joined = false;
            for (Running& running : member.running) {
                joined = take_joining(running) || joined;
            }
            next = joined ? next_for(member, false) : next;
        }
        if (may_start(member, next)) {
            start(member, *next);
        } else if (member.running.empty()) {
            member.busy = false;
            next == nullptr ? changed_.wait(lock) : static_cast<void>(changed_.wait_for(lock, kRecheck));
            continue;
        }
        step(member, furthest_behind(member, [](const Running&) { return true; }), lock, false);
    }
    Leavings left{.finished = {}, .ended = {}, .sessions = std::exchange(member.running, {}), .released = {}};
    for (const Running& running : left.sessions) {
        put_back(running, false, left);
    }
    const auto tasks = std::exchange(member.tasks, {});  // their promises fail, which ends the wait
    lock.unlock();
    let_go(left);
}

// Tasks and reopening free models, too.
void Scheduler::drop_freed(Member& member, Leavings& left) {
    if (std::erase_if(member.models, [&](const auto& model) { return !member.device->holds(model); }) > 0) {
        end_unheld(left);
    }
}

void Scheduler::look_for_free_models() {
    {
        const std::lock_guard lock(mutex_);
        ++freed_;
    }
    changed_.notify_all();
}

void Scheduler::report(const std::string& message) {
    const std::lock_guard lock(log_mutex_);
    try {
        log_(message);
    } catch (...) {  // nobody is left to tell, and the device's thread goes on
    }
}

// Runs on its own thread, because devices may be busy for longer than a request waits.
void Scheduler::watch_deadlines() {
    Lock lock(mutex_);
    while (!closing_) {
        const Clock::time_point now = Clock::now();
        std::optional<Clock::time_point> nearest;
        Jobs late;
        for (const std::shared_ptr<Job>& job : open_) {
            const std::optional<Clock::time_point>& deadline = job->terms.deadline;
            if (deadline && *deadline <= now) {
                late.push_back(job);
            } else if (deadline && (!nearest || *deadline < *nearest)) {
                nearest = deadline;
            }
        }
        if (!late.empty()) {
            for (const std::shared_ptr<Job>& job : late) {
                withdraw(job, std::make_exception_ptr(DeadlineExceeded("the request's deadline has passed")));
            }
            lock.unlock();
            changed_.notify_all();
            close_all(late);
            late.clear();  // without the lock
            lock.lock();
        } else if (nearest) {
            deadline_.wait_until(lock, *nearest);
        } else {
            deadline_.wait(lock);
        }
    }
}

}  // namespace headscope

// The steps of a device's sessions, and what follows from them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/failures.h"
#include "engine/scheduler.h"

namespace headscope {

namespace {

// Thrown through work that must begin again, because another session lost the device meanwhile.
struct Interrupted {};

bool stopped(const Attempted& each) {
    return each.work->job().stopped();
}

}  // namespace

// What nobody waits for leaves its session, which ends if nothing is left.
void Scheduler::drop_stopped(Member& member, Jobs& ended) {
    for (auto running = member.running.begin(); running != member.running.end();) {
        if (std::ranges::all_of(running->works, stopped)) {
            running->session.reset();  // before its jobs
        }
        std::ptrdiff_t first = 0;
        for (auto batch = running->batches.begin(); batch != running->batches.end();) {
            const std::shared_ptr<Job> job = batch->job;
            const std::ptrdiff_t count = std::ssize(batch->what().works);
            const auto own = running->works.begin() + first;
            if (!job->stopped()) {
                first += count;
                ++batch;
                continue;
            }
            if (!job->state.ended) {
                withdraw(job, job->callback_failure());
                ended.push_back(job);
            }
            if (running->session != nullptr) {
                std::for_each(own, own + count, [&](Attempted& each) { running->session->leave(*each.work); });
            }
            running->works.erase(own, own + count);
            running->tokens -= batch->what().tokens;
            running->looked = 0;  // there is room
            release(*batch);
            batch = running->batches.erase(batch);
            ended_.notify_all();
        }
        running = running->batches.empty() ? member.running.erase(running) : std::next(running);
    }
}

// Returns whether there is more to do. Throws what the work throws.
bool Scheduler::take_step(Member& member, Running& running) {
    Work& first = *running.works.front().work;
    if (running.session == nullptr) {
        std::vector<Work*> works;
        std::ranges::transform(running.works, std::back_inserter(works), &Attempted::work);
        const auto goes_on = [this, &member, &running] { return let_others(member, running); };
        running.session = first.begin(member.device->place(*first.job().model, goes_on), works);
        running.steps = 0;
        running.charged = 0;
    }
    const bool more = running.session->step();
    ++running.steps;
    std::vector<Work*> done = running.session->take_done();
    for (Attempted& each : running.works) {
        each.done = each.done || !more || std::ranges::find(done, each.work) != done.end();
        if (!more) {
            done.push_back(each.work);
        }
    }
    std::erase_if(done, [](const Work* work) { return work->job().stopped(); });  // they may have no result
    if (!done.empty()) {
        first.job().model->known().remember(done);
        member.device->succeeded();
    }
    return more;
}

// One step of a session, and what follows from it. `inside`: of a step of another session, which has the device. A
// failure waits until that is over; if the device is lost, that is now.
void Scheduler::step(Member& member, std::list<Running>::iterator running, Lock& lock, bool inside) {
    member.running.splice(member.running.end(), member.running, running);  // it has had its turn
    const bool others_run = member.running.size() > 1;
    lock.unlock();
    const Clock::time_point start = Clock::now();
    bool more = true;
    std::exception_ptr failure = std::exchange(running->failure, nullptr);
    try {
        more = failure != nullptr || take_step(member, *running);
    } catch (const Interrupted&) {
        running->session.reset();
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure != nullptr && inside) {
        running->session.reset();
        running->failure = failure;
        lock.lock();
        if (classify(failure) == Fault::DeviceLost) {
            throw Interrupted();
        }
        return;
    }
    std::exception_ptr device_failure;
    const bool alone = others_run && failure != nullptr && classify(failure) == Fault::OutOfMemory;
    if (failure != nullptr) {
        member.device->failed(failure);
        running->session.reset();
        device_failure = alone ? nullptr : try_again(*member.device, running->works, failure);
    }
    lock.lock();
    ++member.use.steps;
    if (!inside) {
        member.use.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    }
    Jobs ended;
    if (more && failure == nullptr) {
        const std::int64_t tokens = running->session == nullptr ? running->charged : running->session->tokens();
        charge(*running, tokens - std::exchange(running->charged, tokens));
        settle_done(member, *running, ended);
    }
    if (!more || failure != nullptr || running->batches.empty()) {
        Running done = std::move(*running);
        member.running.erase(running);
        alone ? put_back(done, true) : finish(member, done, device_failure, ended);
    }
    const bool others = working_ > 0;
    lock.unlock();
    changed_.notify_all();
    if (device_failure != nullptr && others) {
        report(fmt::format("{} failed; the other devices take over its work: {}", member.use.name,
                           what_of(device_failure)));
    }
    close_all(ended);
    lock.lock();
}

// Inside a long step of a session, which counts as several: a step of another one that is further behind. Returns
// whether somebody waits for the session.
bool Scheduler::let_others(Member& member, Running& running) {
    if (std::ranges::all_of(running.works, stopped)) {
        return false;
    }
    Lock lock(mutex_);
    ++running.steps;
    charge(running, running.tokens);
    if (const Batch* waiting = next_for(member, true); may_start(member, waiting)) {
        start(member, *waiting);
    }
    const auto next = furthest_behind(member, [&](const Running& other) {
        return &other != &running && other.works.front().work->steps() && other.failure == nullptr &&
               !std::ranges::all_of(other.works, stopped);
    });
    if (!closing_ && next != member.running.end() && served_to(*next) <= served_to(running)) {
        step(member, next, lock, true);
    }
    return !closing_;
}

}  // namespace headscope

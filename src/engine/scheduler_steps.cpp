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
void Scheduler::drop_stopped(Member& member, Leavings& left) {
    for (auto running = member.running.begin(); running != member.running.end();) {
        const bool all = std::ranges::all_of(running->works, stopped);
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
                left.ended.push_back(job);
            }
            if (running->session != nullptr && !all) {
                std::for_each(own, own + count, [&](Attempted& each) { running->session->leave(*each.work); });
            }
            running->works.erase(own, own + count);
            running->tokens -= batch->what().tokens;
            running->looked = 0;  // there is room
            release(*batch, left);
            batch = running->batches.erase(batch);
        }
        const auto gone = running++;
        if (gone->batches.empty()) {
            left.sessions.splice(left.sessions.end(), member.running, gone);
        }
    }
}

// Returns whether there is more to do. Throws what the work throws.
bool Scheduler::take_step(Member& member, Running& running) {
    const OpenModel& model = *running.works.front().work->job().model;
    if (running.session == nullptr) {
        const std::vector<Work*> works = undone(running.works);
        const auto goes_on = [this, &member, &running] { return let_others(member, running); };
        running.session = works.front()->begin(member.device->place(model, goes_on), works);
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
        model.known().remember(done);
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
        if (classify(failure) == Fault::Request && std::ranges::all_of(running->works, stopped)) {
            running->session.reset();
            failure = nullptr;  // nobody waits for the work
        }
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
    Leavings left;
    if (more && failure == nullptr) {
        const std::int64_t tokens = running->session == nullptr ? running->charged : running->session->tokens();
        charge(*running, tokens - std::exchange(running->charged, tokens));
        settle_done(member, *running, left);
    }
    if (!more || failure != nullptr || running->batches.empty()) {
        left.sessions.splice(left.sessions.end(), member.running, running);
        alone ? put_back(*running, true, left) : finish(member, *running, device_failure, left);
    }
    const bool others = working_ > 0;
    lock.unlock();
    changed_.notify_all();
    if (device_failure != nullptr && others) {
        report(fmt::format("{} failed; the other devices take over its work: {}", member.use.name,
                           what_of(device_failure)));
    }
    let_go(left);
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

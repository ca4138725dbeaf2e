// The devices' threads, the queue from which they take batches, and the sessions between which they alternate.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/attempt.h"
#include "engine/device.h"
#include "engine/job.h"
#include "engine/statistics.h"

namespace headscope {

struct Bounds {
    std::size_t requests = 4096;                  // without a result so far
    std::int64_t tokens = std::int64_t{1} << 22;  // of requests that wait
    std::int64_t tokens_of_client = std::int64_t{1} << 20;
};

class Scheduler {
public:
    using Clock = Job::Clock;
    using Log = std::function<void(const std::string& message)>;

    Scheduler(Bounds bounds, Log log);
    ~Scheduler();  // after close()

    // Starts a device's thread, which opens it. What fails is thrown.
    void add_device(const std::string& id, Precision precision, const Device::Open& open);
    // Reads a model on a device's thread, between two steps. What fails is thrown.
    void load_on(std::size_t device, const ModelHandle& model,
                 const std::function<void(const LoadedModel& loaded)>& look);

    // Queues the job, or ends it at once if it has nothing to wait for. Busy if there is too much to do, Closed if no
    // more is taken.
    void add(const std::shared_ptr<Job>& job);
    // Ends a job that has no result yet.
    void end(const std::shared_ptr<Job>& job, const std::exception_ptr& why);
    // Waits until no device works for the job.
    void settle(const Job& job);
    // Takes no more jobs, and waits for those that it has. False if that takes longer.
    bool drain(Clock::duration longest);
    // Ends all jobs and the threads.
    void close();
    // Devices look for models to free. Must not be called with the lock held, so that no model ends with it.
    void look_for_free_models();
    // Tells the log something, one call at a time. What it throws is ignored.
    void report(const std::string& message);

    std::vector<DeviceUse> uses() const;
    EngineStatistics statistics() const;

private:
    struct Member;
    struct Batch {
        std::shared_ptr<Job> job;
        std::size_t index = 0;
        // Batches of a flow are taken in order of their rounds. The k-th batch of a job is taken k rounds after the one
        // that was taken last.
        std::uint64_t round = 0;
        bool tried = false;                  // a device could not do it: others are not merged with it
        bool alone = false;                  // it needs all the memory of a device
        const Member* refused_by = nullptr;  // a device that could not do it, while there is another
        const Job::Batch& what() const { return job->batches()[index]; }
        Work& first() const { return *what().works.front(); }
    };
    // Flows share a device by tokens: the one that is furthest behind goes on.
    struct Flow {
        double served = 0.0;  // tokens, fewer for a higher priority
        std::uint64_t round = 0;
        std::deque<Batch> queue;   // batches that no device works on, by round
        std::int64_t tokens = 0;   // in the queue
        std::int64_t counted = 0;  // in the queue, of jobs that count
        std::size_t running = 0;   // batches on devices
        void add(const Batch& batch, std::int64_t times) {
            tokens += times * batch.what().tokens;
            counted += batch.job->counts() ? times * batch.what().tokens : 0;
        }
    };
    // A session on a device.
    struct Running {
        std::vector<Batch> batches;
        std::vector<Attempted> works;
        std::unique_ptr<BatchSession> session;  // null before the first step
        std::int64_t tokens = 0;                // the batches' sum
        std::int64_t charged = 0;
        int steps = 0;
        std::uint64_t looked = 0;    // queued_ when it last looked for batches that join it
        std::exception_ptr failure;  // why a step failed that was taken inside another's
    };
    struct Member {
        std::unique_ptr<Device> device;  // only the thread uses it
        std::list<Running> running;      // only the thread uses them
        std::deque<std::packaged_task<void()>> tasks;
        std::vector<std::weak_ptr<const OpenModel>> models;  // the device has loaded them
        std::uint64_t freed = 0;                             // freed_ when it last looked for models to free
        DeviceUse use{};
        bool busy = false;
        Clock::time_point until{};  // when it is expected to be done
        std::thread thread;
    };
    using Jobs = std::vector<std::shared_ptr<Job>>;
    using Lock = std::unique_lock<std::mutex>;
    // What must wait until the device's thread does not hold the lock: a request's callbacks are code of its caller,
    // and so may be what it refers to.
    struct Leavings {
        std::vector<std::pair<std::shared_ptr<Job>, std::size_t>> finished;  // batches
        Jobs ended;                                                          // their callers do not know it yet
        std::list<Running> sessions;                                         // to be destroyed, before their jobs
        Jobs released;                                                       // the device no longer works on them
        bool empty() const { return finished.empty() && ended.empty() && sessions.empty() && released.empty(); }
    };

    // scheduler.cpp: threads
    void serve(Member& member);
    void load(Member& member, const ModelHandle& model);
    void drop_freed(Member& member, Leavings& left);
    void watch_deadlines();

    // scheduler_steps.cpp: what a device does
    void step(Member& member, std::list<Running>::iterator running, Lock& lock, bool inside);
    bool take_step(Member& member, Running& running);
    bool let_others(Member& member, Running& running);
    void drop_stopped(Member& member, Leavings& left);

    // scheduler_queue.cpp: what a device takes, and when
    void queue(const Batch& batch, bool first);
    bool may_start(const Member& member, const Batch* next) const;
    const Batch* next_for(const Member& member, bool inside) const;
    bool may_take(const Member& member, const Batch& batch) const;
    void start(Member& member, const Batch& next);
    void take(Running& running, Flow& flow, std::deque<Batch>::iterator batch);
    bool take_joining(Running& running);
    bool joins(const Running& running, const Batch& more) const;
    double served_to(const Running& running) const;
    std::list<Running>::iterator furthest_behind(Member& member,
                                                 const std::function<bool(const Running& running)>& may);
    void charge(const Running& running, std::int64_t tokens);
    void forget(const Job::Key& key);
    static Clock::duration expected(const Member& member, std::int64_t tokens);
    static Clock::time_point free_at(const Member& member, Clock::time_point now);
    std::int64_t waiting_tokens() const;
    void refuse_surplus(const Job& job);

    // scheduler_results.cpp: what becomes of batches
    void finish(Member& member, Running& running, const std::exception_ptr& failure, Leavings& left);
    void settle_done(Member& member, Running& running, Leavings& left);
    void settle_batch(Member& member, const Batch& batch, std::span<const Attempted> works,
                      const std::exception_ptr& failure, Leavings& left);
    bool ends(Member& member, const Batch& batch, std::span<const Attempted> works, const std::exception_ptr& failure,
              Leavings& left);
    bool survives(const Batch& batch, std::span<const Attempted> works, const std::exception_ptr& device_failure);
    void give_up(Member& member, const std::exception_ptr& failure, Leavings& left);
    void end_unheld(Leavings& left);
    static bool works_for(const Member& member, const ModelHandle& model);
    bool held(const ModelHandle& model, const Member* other_than = nullptr) const;
    std::exception_ptr no_device_left(const OpenModel& model) const;
    void withdraw(const std::shared_ptr<Job>& job, const std::exception_ptr& why);
    void put_back(const Running& running, bool alone, Leavings& left);
    void release(const Batch& batch, Leavings& left);
    void close_all(const Jobs& ended);
    void let_go(Leavings& left);
    void count(const Job& job);

    const Bounds bounds_;
    const Log log_;
    std::mutex log_mutex_;
    std::mutex join_mutex_;
    mutable std::mutex mutex_;          // guards the members below
    std::condition_variable changed_;   // devices have something to do
    std::condition_variable ended_;     // a job has ended
    std::condition_variable deadline_;  // a nearer one came
    std::vector<std::unique_ptr<Member>> devices_;
    std::size_t working_ = 0;  // devices that have not failed
    std::exception_ptr last_failure_;
    std::map<Job::Key, Flow> flows_;
    std::uint64_t queued_ = 0;  // batches so far
    std::uint64_t freed_ = 0;   // times that a model may have become free
    double served_ = 0.0;       // the served of the flow that was served last: new flows begin there
    Jobs open_;                 // jobs without a result
    std::size_t counted_ = 0;
    bool draining_ = false;
    bool closing_ = false;
    EngineStatistics statistics_;
    std::thread deadlines_;
};

}  // namespace headscope

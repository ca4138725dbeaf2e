// The devices' threads and the queue from which they take batches.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/attempt.h"
#include "engine/job.h"
#include "engine/known_work.h"
#include "engine/service.h"
#include "engine/service_device.h"

namespace headscope {

class Scheduler {
public:
    using Clock = Job::Clock;

    Scheduler(std::vector<Service::Member> members, Service::Warn warn, std::size_t most_requests);
    ~Scheduler();  // after close()

    // Queues the job, or ends it at once if it has nothing to wait for. Busy if there are too many open requests.
    void add(const std::shared_ptr<Job>& job);
    // Passes the job's results to `sink` in order; returns when the job is done and no device works on it. Throws the
    // job's failure.
    void follow(const std::shared_ptr<Job>& job, const ResultSink& sink);
    // Ends a job that has no result yet.
    void end(const std::shared_ptr<Job>& job, std::exception_ptr why);
    // Ends all jobs and the threads.
    void close();

    std::vector<Service::Share> shares() const;

private:
    struct Device;
    struct Batch {
        std::shared_ptr<Job> job;
        std::size_t index = 0;
        // Batches are taken in order of their rounds: the k-th of a job k rounds after the one that was taken last.
        std::uint64_t round = 0;
        bool tried = false;                  // by a device that could not do it: others are not merged with it
        const Device* refused_by = nullptr;  // that device, while there is another
        const Job::Size& size() const { return job->sizes[index]; }
    };
    struct Device {
        ServiceDevice device;  // its thread's
        Service::Share share{};
        bool busy = false;
        Clock::time_point until{};  // when it is expected to be done
    };
    using Jobs = std::vector<std::shared_ptr<Job>>;

    void work(Device& device);
    bool may_take(const Device& device) const;
    std::vector<Batch> take(const Device& device);
    void queue(const Batch& batch, bool first);
    void refuse_surplus(const Job& job) const;
    static std::vector<Attempted> begin(Device& device, const std::vector<Batch>& batches);
    Jobs finish(Device& device, const std::vector<Batch>& batches, const std::vector<Attempted>& units,
                const std::exception_ptr& failure);
    bool settle(Device& device, const Batch& batch, std::span<const Attempted> units,
                const std::exception_ptr& failure);
    bool fail(const Batch& batch, std::span<const Attempted> units, const std::exception_ptr& device_failure);
    static void count(Device& device, const std::vector<Batch>& batches, const std::vector<Attempted>& units,
                      Clock::duration time);
    Jobs give_up(Device& device, const std::exception_ptr& failure);
    std::exception_ptr no_device_left() const;
    void watch_deadlines();
    void withdraw(const std::shared_ptr<Job>& job, const std::exception_ptr& why);
    static Clock::duration expected(const Device& device, std::int64_t tokens);
    static Clock::time_point free_at(const Device& device, Clock::time_point now);
    void report(const std::string& message);

    const std::size_t most_requests_;
    const Service::Warn warn_;
    std::mutex warn_mutex_;
    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    std::vector<std::unique_ptr<Device>> devices_;
    std::size_t working_ = 0;  // devices that have not failed
    std::exception_ptr last_failure_;
    std::deque<Batch> queue_;  // batches that no device works on, by round
    std::uint64_t round_ = 0;  // of the batch that was taken last
    Jobs open_;                // jobs without a result
    bool closing_ = false;
    KnownWork known_;  // thread-safe
    std::vector<std::thread> threads_;
};

}  // namespace headscope

// The devices' threads and the queue from which they take batches.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/job.h"
#include "engine/service.h"
#include "infer/fresh_device.h"

namespace headscope {

class Scheduler {
public:
    using Clock = Job::Clock;

    Scheduler(std::vector<Service::Member> members, Service::Warn warn);
    ~Scheduler();  // after close()

    // Queues the job, or ends it at once if it has nothing to wait for.
    void add(const std::shared_ptr<Job>& job);
    // Passes the job's results to `sink` in order; returns when the job is done and no device works on it. Throws the
    // job's failure.
    void follow(const std::shared_ptr<Job>& job, const TranslatedSink& sink);
    // Ends a job that has no result yet.
    void end(const std::shared_ptr<Job>& job, std::exception_ptr why);
    // Ends all jobs and the threads.
    void close();

    std::vector<Service::Share> shares() const;

private:
    struct Batch {
        std::shared_ptr<Job> job;
        std::size_t index = 0;
        std::int64_t tokens() const { return job->tokens[index]; }
    };
    struct Device {
        Service::Member member;
        const Translator* translator = nullptr;  // the member's, or that of the reopened device
        SecondChance chance;
        Service::Share share;
        bool busy = false;
        Clock::time_point until{};  // when it is expected to be done
    };
    using Jobs = std::vector<std::shared_ptr<Job>>;

    void work(Device& device);
    bool may_take(const Device& device) const;
    std::vector<Batch> take();
    std::exception_ptr translate(Device& device, const std::vector<Batch>& batches,
                                 std::vector<TranslationUnit*>& units);
    Jobs finish(Device& device, const std::vector<Batch>& batches, const std::vector<TranslationUnit*>& units,
                double seconds);
    Jobs give_up(Device& device, const std::exception_ptr& failure);
    std::exception_ptr no_device_left() const;
    void watch_deadlines();
    void withdraw(const std::shared_ptr<Job>& job, const std::exception_ptr& why);
    static Clock::duration expected(const Device& device, std::int64_t tokens);
    static Clock::time_point free_at(const Device& device, Clock::time_point now);
    void report(const std::string& message);

    const Service::Warn warn_;
    std::mutex warn_mutex_;
    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    std::vector<std::unique_ptr<Device>> devices_;
    std::size_t working_ = 0;  // devices that have not failed
    std::exception_ptr last_failure_;
    std::deque<Batch> queue_;  // batches that no device works on
    Jobs open_;                // jobs without a result
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace headscope

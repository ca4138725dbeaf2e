// A request inside the engine: its batches of work, and what has become of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/open_model.h"
#include "engine/work.h"

namespace headscope {

// Whose request it is, and how urgent.
struct Terms {
    std::string client = {};  // clients share the devices fairly, whatever they ask for
    int priority = 0;         // each step up doubles the share; from -kMost to kMost
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
    static constexpr int kMost = 16;
};

class Job {
public:
    using Clock = std::chrono::steady_clock;
    struct Batch {
        std::vector<std::unique_ptr<Work>> works;
        std::int64_t tokens = 0;
        std::int64_t longest = 0;
    };

    Job(ModelHandle model, Terms terms);
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    virtual ~Job();

    const ModelHandle model;
    const Terms terms;
    const std::vector<Batch>& batches() const { return batches_; }
    // Requests of one key share their part of a device.
    using Key = std::pair<std::string, int>;  // client and priority
    Key key() const { return {terms.client, terms.priority}; }

    // Ends the work early.
    void stop() { stopped_.store(true, std::memory_order_relaxed); }
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    // A callback of the caller (a rule or an observer) threw, which stops the job. Null if none did.
    void blame(std::exception_ptr why);
    std::exception_ptr callback_failure() const;

    // A batch is done. The scheduler calls it without its lock, from the threads of several devices.
    virtual void finished(std::size_t /*batch*/) {}
    // Whether the job goes on without a work that failed. Called with the scheduler's lock held.
    virtual bool survives(Work& /*work*/, const std::exception_ptr& /*why*/) { return false; }
    // It is called once, without the lock: the result is there, or the reason why there is none.
    virtual void end(const std::exception_ptr& failure) noexcept = 0;
    virtual bool joins() const { return true; }   // running sessions
    virtual bool counts() const { return true; }  // among the requests that an engine takes
    // When the first event was told.
    std::optional<Clock::time_point> first() const;

    // The scheduler's lock guards these.
    struct State {
        std::size_t waiting = 0;    // batches that are not done
        std::size_t running = 0;    // batches on devices
        std::size_t succeeded = 0;  // works
        bool ended = false;
        std::exception_ptr failure;  // why it ended early
        Clock::time_point queued{};
        std::optional<Clock::time_point> started{};
    } state;

protected:
    void add_batch(std::vector<std::unique_ptr<Work>> works);
    void told();

private:
    std::vector<Batch> batches_;
    std::atomic<bool> stopped_{false};
    std::atomic<Clock::rep> first_{0};
    mutable std::mutex failure_mutex_;
    std::exception_ptr callback_failure_;
};

}  // namespace headscope

// What a device does for a request, in steps. The scheduler knows nothing else of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/choices.h"
#include "engine/failures.h"

namespace headscope {

class Backend;
class Job;
class LoadedModel;
class Work;

// Where work runs: a device, which is the work's alone until it returns, and a model that is loaded there.
struct Place {
    Backend& backend;
    const LoadedModel& model;
    Compute compute = Compute::F32;  // the device's
    // Work that takes long in one step calls this now and then: other requests get their share of the device. False if
    // nobody waits for the work any more.
    std::function<bool()> goes_on = [] { return true; };
    // The same for work that can only end early by an exception: Cancelled.
    void go_on() const {
        if (!goes_on()) {
            throw Cancelled("nobody waits for the work any more");
        }
    }
};

// Works of one or several requests that are done together, step by step.
class BatchSession {
public:
    BatchSession() = default;
    BatchSession(const BatchSession&) = delete;
    BatchSession& operator=(const BatchSession&) = delete;
    virtual ~BatchSession() = default;

    // Returns whether something is left to do. Then all works have their results.
    virtual bool step() = 0;
    virtual std::int64_t tokens() const = 0;                          // counts all steps so far
    virtual std::vector<Work*> take_done() { return {}; }             // works that have their results before the others
    virtual void leave(Work& /*work*/) {}                             // nobody waits for it any more
    virtual bool joins(const Work& /*work*/) const { return false; }  // whether it may still be added
    virtual void join(std::span<Work* const> /*works*/) {}
};

class Work {
public:
    explicit Work(Job* job = nullptr) : job_(job) {}
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    virtual ~Work() = default;

    Job& job() const { return *job_; }  // known work has none

    // What it costs.
    virtual std::int64_t tokens() const = 0;
    // Whether both may be done in one session, and how many padded tokens that may have.
    virtual bool joins(const Work& /*other*/) const { return false; }
    virtual std::int64_t most_together() const { return 0; }
    // Starts the works of `batch`, of which this is the first and the others join it. May be called again after a
    // failure.
    virtual std::unique_ptr<BatchSession> begin(const Place& place, std::span<Work* const> batch) = 0;

    // Whether a session of it makes short steps, so that one fits into a step of another.
    virtual bool steps() const { return true; }

    // After success: its beginning, a few steps that test a device, or null if it cannot be repeated.
    virtual std::unique_ptr<Work> known() const { return nullptr; }
    virtual std::int64_t written() const { return 0; }  // the result's tokens

private:
    Job* job_;
};

}  // namespace headscope

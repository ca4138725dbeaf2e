// Devices and models, and one queue for all work on them. Every member is thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/open_options.h"
#include "backend/precision.h"
#include "engine/open_model.h"
#include "engine/process.h"
#include "engine/requests.h"
#include "engine/scheduler.h"
#include "engine/statistics.h"
#include "engine/task_job.h"
#include "engine/text_job.h"
#include "engine/ticket.h"

namespace headscope {

struct EngineOptions {
    std::vector<std::string> devices{""};  // for open_device(); a device listed twice works on two batches at a time
    Precision precision = Precision::F32;
    // Skip devices that do not exist or lack the precision, instead of throwing. For lists that no user typed.
    bool skip_unusable = false;
    Bounds bounds = {};
    OpenOptions open = {};
    Device::Open open_device = {};  // empty: devices of the registry
};

// A device does one step of a session at a time, and alternates between sessions: the client that is furthest behind
// goes on, by tokens and priorities (Terms). Waiting requests of similar length whose options allow it share a session,
// up to DecodingOptions::batch_tokens, and join a running one where the model allows it. A long session delays others
// by some steps, not by its length. A slow device leaves a batch that a faster one would finish sooner. The choice of
// the device and of the batch changes a result only by rounding (LoadedModel::translate).
//
// One failure ends one request. If a session fails, its works are tried alone, once; one that fails alone gets its own
// exception. If a device has too little memory for a request, or is lost by it, another device tries it before it
// fails. A lost device is reopened with its models as long as it does some work in between (SecondChance). A device is
// given up only if it cannot be reopened or no longer does what has succeeded before; the others take over its work.
//
// After fork() every call in the child throws Forked; the child may destroy the engine.
class Engine {
public:
    using Log = Scheduler::Log;

    // Opens the devices. Error for one that does not exist or lacks the precision. A device that exists and fails is
    // skipped as long as another works. `log` gets the reason, and what happens to devices later, from any thread, one
    // call at a time; what it throws is ignored.
    Engine(EngineOptions options, Log log);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine();  // close()

    // Loads a model on each device: from a directory, or from several that form an ensemble (LoadedModel). If it is
    // open already, that model's handle. Error for a model that no device can load; a device that fails at it does not
    // work for it.
    ModelHandle open(const std::vector<std::string>& directories);
    ModelHandle open(LoadModel load);
    // Opens another model to which requests for `old` go from now on. Those that were submitted before end with the old
    // weights, which are freed after them.
    ModelHandle swap(const ModelHandle& old, const std::vector<std::string>& directories);
    // Frees the weights as soon as no request uses them. Requests for it fail until load().
    void unload(const ModelHandle& model);
    void load(const ModelHandle& model);

    // Closed, or Busy. An invalid request throws here. Every other one gets exactly one result or exception.
    template <class Request>
    Ticket<Request> submit(const ModelHandle& model, Request request, Terms terms = {}) {
        process_.check();
        auto answer = make_owned<Answer<Request>>();
        const auto job = job_for(UsedModel(model).handle(), std::move(request), std::move(terms), answer);
        scheduler_->add(job);
        return {answer, canceller(job), settler(job)};
    }
    // Runs something on a device and waits.
    void run(const ModelHandle& model, const std::function<void(const Place& place)>& work);

    // Takes no more requests, and waits for those that it has. False if that takes longer.
    bool drain(std::chrono::milliseconds longest);
    // Ends all requests as Cancelled.
    void close();

    std::vector<DeviceUse> devices() const;
    EngineStatistics statistics() const;

private:
    struct Skipped {
        std::string id;
        std::exception_ptr why;
    };
    [[noreturn]] static void fail(const std::vector<Skipped>& all);
    static std::shared_ptr<Job> job_for(ModelHandle model, const TextRequest& request, Terms terms,
                                        std::shared_ptr<Answer<TextRequest>> answer);
    static std::shared_ptr<Job> job_for(ModelHandle model, const LinesRequest& request, Terms terms,
                                        std::shared_ptr<Answer<LinesRequest>> answer);
    static std::shared_ptr<Job> job_for(ModelHandle model, const TokeniseRequest& request, Terms terms,
                                        std::shared_ptr<Answer<TokeniseRequest>> answer);
    template <class Request>
    static std::shared_ptr<Job> job_for(ModelHandle model, Request request, Terms terms,
                                        std::shared_ptr<Answer<Request>> answer) {
        return std::make_shared<TaskJob<Request>>(std::move(model), std::move(terms), std::move(request),
                                                  std::move(answer));
    }
    std::function<void()> canceller(const std::shared_ptr<Job>& job) const;
    std::function<void()> settler(const std::shared_ptr<Job>& job) const;
    std::shared_ptr<OpenModel> opened(LoadModel load) const;
    void load_everywhere(const ModelHandle& model, const std::function<void(const LoadedModel& loaded)>& look) const;
    void report_skipped(const std::vector<Skipped>& skipped) const;

    const OwnProcess process_;
    std::shared_ptr<Scheduler> scheduler_;  // tickets may outlive the engine
    std::mutex mutex_;                      // guards open_
    std::map<std::vector<std::string>, std::weak_ptr<OpenModel>> open_;
};

}  // namespace headscope

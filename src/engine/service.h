// Translates for many concurrent callers on one or several devices.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "infer/line_translator.h"
#include "infer/loaded_model.h"
#include "support/check.h"

namespace headscope {

class Engine;
class Job;
class Scheduler;

// Reasons why a request has no translation.
class Cancelled : public Error {
public:
    using Error::Error;
};
class DeadlineExceeded : public Error {
public:
    using Error::Error;
};

// The service has as many open requests as it takes: try again later.
class Busy : public Error {
public:
    using Error::Error;
};

struct TranslationRequest {
    SourceLine line;
    DecodingOptions options;  // `compute` is ignored: each device has its own
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    // Streaming: called after each token with the likeliest text so far, without an end that later tokens may change,
    // such as a part of a character. Greedy and sampled text only grows, and the result begins with it; beam search may
    // rewrite it, and a search that is repeated begins again. Runs on a device's thread: it must return soon and must
    // not call the service. If it throws, the request ends with that exception.
    std::function<void(const std::string& text)> on_text{};
};

struct ServiceOptions {
    std::size_t most_requests = 4096;  // without a result so far; submit() throws Busy for more
};

// One queue for all requests and lines. A device that has finished its batch takes the oldest waiting one, merged with
// others of similar length and the same options up to DecodingOptions::batch_tokens. Of many batches that were
// queued together, each waits for the requests that came before the one ahead of it was taken, so that a long text does
// not hold up the others. A slow device leaves a batch that a faster one would finish sooner. The choice of the device
// and of the batch changes a translation only by rounding (LoadedModel::translate). A request with an observer is
// translated alone, so that it sees no other.
//
// One failure ends one request. If a batch fails, its requests are tried alone, once; one that fails alone gets its own
// exception, and a line of a text a `problem`. What a request's callback throws ends that request. If a device has too
// little memory for a request, or is lost by it, another device tries it before it fails. A lost device is reopened as
// long as it does some work in between (SecondChance). A device is given up only if it cannot be reopened or no longer
// does what has succeeded before; the others take over its batch, unless two devices were lost by that.
//
// All members are thread-safe.
class Service final : public LineTranslator {
public:
    // A translator, which outlives the service, with its device's name and compute type. Its backend must not be used
    // elsewhere while the service has work.
    struct Member {
        std::string name;
        const LoadedModel* translator = nullptr;
        Compute compute = Compute::F32;
        // Reopens a lost device (DeviceLost) and returns a translator on it; the old one may be destroyed by then. May
        // throw. May be empty.
        std::function<const LoadedModel*()> reopen = {};
    };
    // `warn` is called when devices fail, from any thread, one call at a time. What it throws is ignored.
    using Warn = std::function<void(const std::string& message)>;
    Service(std::vector<Member> members, Warn warn, const ServiceOptions& options = {});
    Service(const Engine& engine, Warn warn, const ServiceOptions& options = {});
    // Ends open requests as Cancelled.
    ~Service() override;

    // Error for options out of range; Busy for more open requests than ServiceOptions::most_requests. Every other
    // request gets exactly one result: its translation (`problem` says why a line has none), or an exception:
    // Cancelled, DeadlineExceeded, the request's own failure, or Error if no device is left.
    class Answer {
    public:
        std::future<TextResult> result;
        // Stops a running search after its current token. No effect on a finished request.
        void cancel() const { cancel_(); }

    private:
        friend class Service;
        std::function<void()> cancel_;
    };
    Answer submit(TranslationRequest request) const;

    // Lines of one text, in order. A line that fails on a working device has a `problem`; if the first ones all fail,
    // their exception is thrown. Error if no device is left, with the last failure; with a single device, its own
    // exception. An exception of `sink` or of another callback is passed on.
    void translate_in_order(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                            const ResultSink& sink) const override;
    bool continues_during_sink() const override { return true; }

    // The work that a device has done.
    struct Share {
        std::string name;
        std::int64_t batches = 0;
        std::int64_t sentences = 0;
        std::int64_t source_tokens = 0;
        std::int64_t target_tokens = 0;
        double seconds = 0.0;  // of work
        std::string failure;   // empty if it has not failed
    };
    std::vector<Share> shares() const;

private:
    const ModelDirectory model_;
    const std::int64_t longest_;  // maximum source length of all devices
    const std::size_t devices_;
    const std::shared_ptr<Scheduler> scheduler_;  // answers may outlive the service and hold a weak_ptr
};

}  // namespace headscope

// Translates for many callers at once, on one device or several.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "infer/line_translator.h"
#include "infer/translator.h"
#include "support/check.h"

namespace headscope {

class Engine;
class Job;
class Scheduler;

// Why a request has no translation.
class Cancelled : public Error {
public:
    using Error::Error;
};
class DeadlineExceeded : public Error {
public:
    using Error::Error;
};

struct TranslationRequest {
    SourceLine line;
    TranslationOptions options;  // `compute` is the device's own
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    // Streams: gets the likeliest text so far after each token. A greedy or sampled one grows; a beam's may change.
    // Runs on a device's thread: it must return soon, must not throw, and must not call the service.
    std::function<void(const std::string& text)> on_text{};
};

// One queue for all requests and lines. A device that has finished its batch takes the next one: the oldest that waits,
// with others of similar length and the same options as far as TranslationOptions::batch_tokens allows. A slow device
// leaves a batch that a faster one would finish sooner. A device that is lost is opened again as long as it does some
// work in between (SecondChance); one that fails otherwise leaves its batch to the others. Which device translates a
// line, and beside which others, changes nothing but what rounding may (Translator::translate).
//
// Any thread may call any member.
class Service final : public LineTranslator {
public:
    // A translator, which outlives the service, and what its device is called and computes products in. Nobody else
    // uses its backend while the service has work.
    struct Member {
        std::string name;
        const Translator* translator = nullptr;
        Compute compute = Compute::F32;
        // A translator on a fresh device, in place of one that was lost (DeviceLost) and may be gone by then. May
        // throw, or be missing.
        std::function<const Translator*()> reopen = {};
    };
    // `warn` gets the news of devices that failed, from any thread, one message at a time.
    using Warn = std::function<void(const std::string& message)>;
    Service(std::vector<Member> members, Warn warn);
    Service(const Engine& engine, Warn warn);
    // Requests that are still open end as Cancelled.
    ~Service() override;

    // Error for options out of range. Every request gets exactly one result: its translation (`problem` says why a line
    // has none), or an exception: Cancelled, DeadlineExceeded, or Error where no device is left.
    class Answer {
    public:
        std::future<TranslatedSentence> result;
        // A search that runs ends after its current token. Without effect on a request that has its result.
        void cancel() const { cancel_(); }

    private:
        friend class Service;
        std::function<void()> cancel_;
    };
    Answer submit(TranslationRequest request) const;

    // Lines of one text, in order. Error where no device is left, with the reason of the last; of a service with one
    // device alone that very exception. What `sink` throws ends it, too.
    void translate_in_order(const std::vector<SourceLine>& lines, const TranslationOptions& options,
                            const TranslatedSink& sink) const override;
    bool goes_on_beside_sink() const override { return true; }

    // What a device has done.
    struct Share {
        std::string name;
        std::int64_t batches = 0;
        std::int64_t sentences = 0;
        std::int64_t source_tokens = 0;
        std::int64_t target_tokens = 0;
        double seconds = 0.0;  // of work
        std::string failure;   // empty for one that still works
    };
    std::vector<Share> shares() const;

private:
    const ModelDirectory model_;
    const std::int64_t longest_;  // source that every device takes
    const std::size_t devices_;
    const std::shared_ptr<Scheduler> scheduler_;  // answers, which may outlive the service, look for it
};

}  // namespace headscope

// Lines that were submitted together, with their progress.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "autograd/context.h"
#include "infer/translation_work.h"

namespace headscope {

// The scheduler's lock guards the members below; stop() and the searches' callbacks need no lock.
class Job {
public:
    using Clock = std::chrono::steady_clock;

    // `longest`: the maximum source length of all devices, including the end.
    Job(const ModelDirectory& model, const std::vector<SourceLine>& lines, const DecodingOptions& wanted,
        std::int64_t longest);

    // Makes the searches report their partial output to `on_text`, which may be empty. Call it before queueing the job.
    void watch(const Tokenizer& tokenizer, std::function<void(const std::string& text)> on_text);
    // Ends the searches early.
    void stop() { stopped_.store(true, std::memory_order_relaxed); }
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    // What a callback of the caller (on_text, observer, rule) threw, which stopped the job; null if none did.
    std::exception_ptr callback_failure() const;
    // Whether batches of both may be searched together.
    bool joins(const Job& other) const;

private:
    std::unique_ptr<AttentionObserver> observer_;  // which options refer to

public:
    const DecodingOptions options;  // an observer's exceptions become callback_failure()
    TranslationWork work;
    struct Size {
        std::int64_t tokens = 0;  // of the source
        std::int64_t rows = 0;
        std::int64_t longest = 0;
    };
    std::vector<Size> sizes;     // of each batch
    std::size_t succeeded = 0;   // units
    std::size_t failed = 0;      // units that failed on a working device
    std::size_t running = 0;     // batches being translated
    bool news = false;           // a batch or the job has finished since follow() last looked
    std::exception_ptr failure;  // why the job ended early; final
    std::optional<Clock::time_point> deadline;
    // Set if a future is waiting: called once, when the job is done or has failed. Must not throw.
    std::function<void(Job& job)> answer;

private:
    class GuardedObserver;
    DecodingOptions guarded(DecodingOptions wanted);
    // The result of a caller's callback, or `otherwise` if it throws.
    template <class Result>
    Result call(const std::function<Result()>& callback, Result otherwise);
    void blame(std::exception_ptr why);
    void wrote(std::size_t place, const std::string& text);

    std::function<void(const std::string&)> on_text_;
    std::size_t units_ = 0;  // parts of the line
    std::mutex texts_mutex_;
    std::map<std::size_t, std::string> texts_;  // partial texts of several parts, by position in the line
    std::atomic<bool> stopped_{false};
    mutable std::mutex failure_mutex_;
    std::exception_ptr callback_failure_;
};

}  // namespace headscope

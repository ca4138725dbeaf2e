// Lines that were submitted together, with their progress.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "infer/translation_work.h"

namespace headscope {

// The scheduler's lock guards the members below; stop() and the searches' callbacks need no lock.
class Job {
public:
    using Clock = std::chrono::steady_clock;

    // `longest`: the maximum source length of all devices, including the end.
    Job(const ModelDirectory& model, const std::vector<SourceLine>& lines, const TranslationOptions& wanted,
        std::int64_t longest);

    // Makes the searches report their partial output and stop early once stop() was called. Call it before queueing the
    // job.
    void watch(const Tokenizer& tokenizer, std::function<void(const std::string& text)> on_text);
    void stop() { stopped_.store(true, std::memory_order_relaxed); }

    const TranslationOptions options;
    TranslationWork work;
    std::vector<std::int64_t> tokens;  // of each batch's source
    std::size_t running = 0;           // batches being translated
    bool news = false;                 // a batch or the job has finished since follow() last looked
    std::exception_ptr failure;        // why the job ended early
    std::optional<Clock::time_point> deadline;
    // Set if a future is waiting: called once, when the job is done or has failed. Must not throw.
    std::function<void(Job& job)> answer;

private:
    bool wrote(std::size_t place, const std::string& text);

    std::function<void(const std::string&)> on_text_;
    std::mutex texts_mutex_;
    std::map<std::size_t, std::string> texts_;  // partial texts of the line's parts, by position in the line
    std::atomic<bool> stopped_{false};
};

}  // namespace headscope

// Lines that were submitted together, from the queue to their translations.
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

// The scheduler's lock guards the members below; stop() and what the searches call need none.
class Job {
public:
    using Clock = std::chrono::steady_clock;

    // `longest`: source pieces that every device takes, the end included.
    Job(const ModelDirectory& model, const std::vector<SourceLine>& lines, const TranslationOptions& wanted,
        std::int64_t longest);

    // Lets the searches report what is written so far, and end early once the job is stopped. Before it is queued.
    void watch(const Tokenizer& tokenizer, std::function<void(const std::string& text)> on_text);
    void stop() { stopped_.store(true, std::memory_order_relaxed); }

    const TranslationOptions options;
    TranslationWork work;
    std::vector<std::int64_t> tokens;  // of each batch's source
    std::size_t running = 0;           // batches that devices work on
    bool news = false;                 // a batch is done, or the job has ended, since somebody looked
    std::exception_ptr failure;        // of a job that ended before it was done
    std::optional<Clock::time_point> deadline;
    // Where somebody waits for a future: called once, when the job is done or has failed. Must not throw.
    std::function<void(Job& job)> answer;

private:
    bool wrote(std::size_t place, const std::string& text);

    std::function<void(const std::string&)> on_text_;
    std::mutex texts_mutex_;
    std::map<std::size_t, std::string> texts_;  // of the line's parts, by their place in the line
    std::atomic<bool> stopped_{false};
};

}  // namespace headscope

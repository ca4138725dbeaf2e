// A submitted request, as its caller sees it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/process.h"
#include "support/check.h"

namespace headscope {

// What a request has told so far. Engine and caller share it.
template <class Request>
class Answer {
public:
    using Result = typename Request::Result;
    using Event = typename Request::Event;
    using Duration = std::chrono::steady_clock::duration;

    void give(Result result) {
        end([&] { result_ = std::move(result); });
    }
    void fail(std::exception_ptr why) {
        end([&] { failure_ = std::move(why); });
    }
    void tell(Event event) {
        change([&] {
            if (ended_) {
                return;
            }
            if (event_) {
                event_->add(std::move(event));
            } else {
                event_ = std::move(event);
            }
        });
    }
    void watch(std::function<void()> watcher) {
        bool news = false;
        {
            const std::lock_guard lock(mutex_);
            watcher_ = watcher;
            news = ended_ || event_;
        }
        if (news) {
            watcher();
        }
    }
    // Whether the caller has taken all that was told.
    bool read() const {
        const std::lock_guard lock(mutex_);
        return !event_;
    }

    Result get() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ended_; });
        if (failure_ != nullptr) {
            std::rethrow_exception(failure_);
        }
        if (!result_) {
            throw Error("the result of the request was taken before: keep what get() returned");
        }
        return std::exchange(result_, std::nullopt).value();
    }
    bool wait_for(Duration longest) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, longest, [&] { return ended_; });
    }
    std::optional<Event> next(std::optional<Duration> longest) {
        std::unique_lock lock(mutex_);
        const auto news = [&] { return ended_ || event_; };
        longest ? static_cast<void>(changed_.wait_for(lock, *longest, news)) : changed_.wait(lock, news);
        return std::exchange(event_, std::nullopt);
    }

private:
    template <class Set>
    void end(const Set& set) {
        change([&] {
            HEADSCOPE_CHECK(!ended_, "a request has one result");
            set();
            ended_ = true;
        });
    }
    template <class Set>
    void change(const Set& set) {
        std::function<void()> watcher;
        {
            const std::lock_guard lock(mutex_);
            set();
            watcher = watcher_;
        }
        changed_.notify_all();
        if (watcher) {
            watcher();
        }
    }

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Event> event_;  // what was told since the caller last asked, as one
    std::optional<Result> result_;
    std::exception_ptr failure_;
    std::function<void()> watcher_;
    bool ended_ = false;
};

// Thread-safe. A ticket that is dropped does not cancel its request.
template <class Request>
class Ticket {
public:
    using Duration = std::chrono::steady_clock::duration;
    using Result = typename Request::Result;
    using Event = typename Request::Event;

    Ticket() = default;
    Ticket(std::shared_ptr<Answer<Request>> answer, std::function<void()> cancel, std::function<void()> settle)
        : answer_(std::move(answer)), cancel_(std::move(cancel)), settle_(std::move(settle)) {}

    // Waits for the result; or throws why there is none: Cancelled, DeadlineExceeded, TooLarge, the request's own
    // failure, or Error if no device is left or the result was taken before.
    Result get() {
        process_.check();
        return answer_->get();
    }
    bool wait_for(Duration longest) const {
        process_.check();
        return answer_->wait_for(longest);
    }
    // What the request has told since the last call, merged to one event; waits for some. std::nullopt if that took
    // `longest`, or if there will be no more: then get() does not wait.
    std::optional<Event> next(std::optional<Duration> longest = {}) const {
        process_.check();
        return answer_->next(longest);
    }
    // Calls `changed` when next() or get() would not wait: at once if that is so already, and on an engine's thread
    // after each event and the result. It must be quick, throw nothing and not call the engine.
    void watch(std::function<void()> changed) const {
        process_.check();
        answer_->watch(std::move(changed));
    }
    // The request ends at once, and its work after the current step. No effect on a finished request.
    void cancel() const {
        process_.check();
        cancel_();
    }
    // Waits until no device works for the request, which has ended: nothing refers to its callbacks any more.
    void settle() const {
        process_.check();
        settle_();
    }

private:
    OwnProcess process_;
    std::shared_ptr<Answer<Request>> answer_;
    std::function<void()> cancel_, settle_;
};

}  // namespace headscope

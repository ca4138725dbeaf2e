#include "engine/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace headscope {

Job::Job(ModelHandle asked, Terms wanted) : model(std::move(asked)), terms(std::move(wanted)) {
    if (terms.priority < -Terms::kMost || terms.priority > Terms::kMost) {
        throw Error(fmt::format("the priority {} is out of range: give one from {} to {}", terms.priority,
                                -Terms::kMost, Terms::kMost));
    }
    model->use();
}

Job::~Job() {
    model->release();
}

void Job::add_batch(std::vector<std::unique_ptr<Work>> works) {
    Batch batch;
    for (const std::unique_ptr<Work>& work : works) {
        batch.tokens += work->tokens();
        batch.longest = std::max(batch.longest, work->tokens());
    }
    batch.works = std::move(works);
    batches_.push_back(std::move(batch));
    ++state.waiting;
}

std::exception_ptr Job::callback_failure() const {
    const std::lock_guard lock(failure_mutex_);
    return callback_failure_;
}

void Job::blame(std::exception_ptr why) {
    {
        const std::lock_guard lock(failure_mutex_);
        if (callback_failure_ == nullptr) {
            callback_failure_ = std::move(why);
        }
    }
    stop();
}

void Job::told() {
    Clock::rep none = 0;
    first_.compare_exchange_strong(none, Clock::now().time_since_epoch().count());
}

std::optional<Job::Clock::time_point> Job::first() const {
    const Clock::rep at = first_.load();
    return at == 0 ? std::nullopt : std::optional(Clock::time_point(Clock::duration(at)));
}

}  // namespace headscope

#include "backends/vulkan/stream/pipeline_workers.h"

#include <system_error>

namespace headscope::vulkan {

PipelineWorkers::~PipelineWorkers() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ends_ = true;
        waiting_.clear();
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void PipelineWorkers::add(std::function<void()> work) {
    if (threads_.empty() && !start_thread()) {
        work();
        return;
    }
    bool more = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        waiting_.push_back(std::move(work));
        more = waiting_.size() > idle_;
    }
    changed_.notify_one();
    if (more) {
        start_thread();
    }
}

// If the system has no more threads, the existing ones suffice.
bool PipelineWorkers::start_thread() {
    if (threads_.size() >= most_) {
        return false;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    try {
        threads_.emplace_back([this] { work_on(); });
    } catch (const std::system_error&) {
        return false;
    }
    ++idle_;
    return true;
}

void PipelineWorkers::work_on() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
        --idle_;
        if (ends_) {
            return;
        }
        const std::function<void()> work = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        work();
        lock.lock();
        ++idle_;
    }
}

}  // namespace headscope::vulkan

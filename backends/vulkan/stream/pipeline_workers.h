// Threads that compile pipelines. They start when there is work, and end with this object.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headscope::vulkan {

class PipelineWorkers {
public:
    // At most this many threads; 0: work runs in add().
    explicit PipelineWorkers(unsigned most) : most_(most) {}
    PipelineWorkers(const PipelineWorkers&) = delete;
    PipelineWorkers& operator=(const PipelineWorkers&) = delete;
    // Waits for work that has begun and drops the rest.
    ~PipelineWorkers();

    // Adds work that does not throw. Work begins in the order in which it was added.
    void add(std::function<void()> work);

private:
    bool start_thread();
    void work_on();

    const unsigned most_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> waiting_;
    std::size_t idle_ = 0;  // threads, from their start
    bool ends_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace headscope::vulkan

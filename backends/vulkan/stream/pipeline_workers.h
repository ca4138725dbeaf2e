// Threads that compile pipelines beside the one that owns the backend. They are started when there is work for them,
// and end with this object.
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
    // At most so many threads; none: work is done where it is added.
    explicit PipelineWorkers(unsigned most) : most_(most) {}
    PipelineWorkers(const PipelineWorkers&) = delete;
    PipelineWorkers& operator=(const PipelineWorkers&) = delete;
    // Waits for what was begun, and drops what was not.
    ~PipelineWorkers();

    // Work that throws nothing. What is added first is begun first.
    void add(std::function<void()> work);

private:
    bool start_thread();
    void work_on();

    const unsigned most_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> waiting_;
    std::size_t idle_ = 0;  // threads, each from its start
    bool ends_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace headscope::vulkan

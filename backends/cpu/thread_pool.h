// A small pool of threads that spins for microseconds and then sleeps, so that other busy processes are not starved.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace headscope::cpu {

inline constexpr int kMostThreads = 256;

// `asked`, or for 0 processors(); at most kMostThreads.
int thread_count(int asked);

class ThreadPool {
public:
    // `threads` includes the caller: see thread_count().
    explicit ThreadPool(int threads = 0);
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;
    ~ThreadPool();

    int size() const { return static_cast<int>(workers_.size()) + 1; }

    // Calls body(part) once for every part in [0, parts), on any thread, and returns when all are done. Rethrows the
    // first exception. Not reentrant.
    void run(std::int64_t parts, const std::function<void(std::int64_t)>& body);

    // Calls body(begin, end) over slices of [0, count) of at least `grain`, or once if it is no longer than that. Only
    // for work whose result does not depend on the slices.
    template <class Body>
    void for_ranges(std::int64_t count, std::int64_t grain, Body&& body) {
        const std::int64_t most = std::int64_t{size()} * kSlicesPerThread;
        const std::int64_t slices = std::clamp<std::int64_t>(count / std::max<std::int64_t>(grain, 1), 1, most);
        if (size() == 1 || slices == 1) {
            if (count > 0) {
                body(std::int64_t{0}, count);
            }
            return;
        }
        run(slices, [&](std::int64_t slice) { body(count * slice / slices, count * (slice + 1) / slices); });
    }

private:
    static constexpr std::uint32_t kOpen = 1U << 31U;
    static constexpr std::int64_t kSlicesPerThread = 4;  // limits the delay by a thread that lost its processor

    void work(const std::atomic<bool>& stopping);
    bool enter();
    void take_parts();

    std::vector<std::thread> workers_;
    const std::function<void(std::int64_t)>* body_ = nullptr;
    std::exception_ptr failure_;
    std::int64_t parts_ = 0;
    std::atomic<std::int64_t> next_part_{0};
    std::atomic<std::uint32_t> generation_{0};  // incremented to start a run
    std::atomic<std::uint32_t> gate_{0};        // workers inside the run, plus kOpen while more may enter
    std::atomic<bool> failed_{false};
    std::atomic<bool> stopping_{false};
};

}  // namespace headscope::cpu

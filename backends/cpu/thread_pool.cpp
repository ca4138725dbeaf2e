#include "backends/cpu/thread_pool.h"

#include <algorithm>
#include <chrono>

#include "support/processors.h"

namespace headscope::cpu {

namespace {

// How long a waiting thread spins. The gap between two ops of a pass is a few microseconds.
constexpr std::chrono::microseconds kSpin{30};

void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Returns when `value` is no longer `old`: spins for kSpin, then sleeps in the kernel. Reads the clock in few turns:
// the processor's other thread may need the time.
void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    using Clock = std::chrono::steady_clock;
    constexpr int kTurns = 64;
    const auto spins = [&] {
        for (int turn = 0; turn < kTurns; ++turn) {
            if (value.load(std::memory_order_acquire) != old) {
                return false;
            }
            pause_briefly();
        }
        return true;
    };
    if (!spins()) {
        return;
    }
    const Clock::time_point end = Clock::now() + kSpin;
    while (spins()) {
        if (Clock::now() > end) {
            value.wait(old, std::memory_order_acquire);
        }
    }
}

}  // namespace

int thread_count(int asked) {
    return std::min(asked > 0 ? asked : processors(), kMostThreads);
}

ThreadPool::ThreadPool(int threads) {
    const int count = thread_count(threads);
    for (int i = 1; i < count; ++i) {
        workers_.emplace_back([this] { work(stopping_); });
    }
}

ThreadPool::~ThreadPool() {
    stopping_.store(true, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    for (std::thread& worker : workers_) {
        worker.join();
    }
}

void ThreadPool::run(std::int64_t parts, const std::function<void(std::int64_t)>& body) {
    if (workers_.empty() || parts <= 1) {
        for (std::int64_t part = 0; part < parts; ++part) {
            body(part);
        }
        return;
    }
    body_ = &body;
    parts_ = parts;
    failure_ = nullptr;
    failed_.store(false, std::memory_order_relaxed);
    next_part_.store(0, std::memory_order_relaxed);
    gate_.store(kOpen, std::memory_order_release);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    take_parts();
    // Workers that have not woken up by now are not waited for: they find the gate closed.
    gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
    for (std::uint32_t inside = gate_.load(std::memory_order_acquire); inside != 0;
         inside = gate_.load(std::memory_order_acquire)) {
        wait_while(gate_, inside);
    }
    if (failure_ != nullptr) {
        std::rethrow_exception(failure_);
    }
}

void ThreadPool::work(const std::atomic<bool>& stopping) {
    std::uint32_t seen = 0;
    while (true) {
        wait_while(generation_, seen);
        seen = generation_.load(std::memory_order_acquire);
        if (stopping.load(std::memory_order_relaxed)) {
            return;
        }
        if (!enter()) {
            continue;
        }
        take_parts();
        if (gate_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            gate_.notify_all();
        }
    }
}

bool ThreadPool::enter() {
    std::uint32_t gate = gate_.load(std::memory_order_relaxed);
    while ((gate & kOpen) != 0) {
        if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) {
            return true;
        }
    }
    return false;
}

void ThreadPool::take_parts() {
    for (std::int64_t part = next_part_.fetch_add(1, std::memory_order_relaxed); part < parts_;
         part = next_part_.fetch_add(1, std::memory_order_relaxed)) {
        try {
            (*body_)(part);
        } catch (...) {
            if (!failed_.exchange(true)) {
                failure_ = std::current_exception();
            }
        }
    }
}

}  // namespace headscope::cpu

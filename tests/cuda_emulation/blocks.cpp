// The threads of one block, switched where they wait for each other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string_view>

#include "emulator.h"
#include "fibers.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

thread_local uint3 threadIdx;
thread_local uint3 blockIdx;
thread_local dim3 blockDim;
thread_local dim3 gridDim;

namespace headscope::cuda {

// What kernels declare as their dynamic shared memory.
alignas(128) unsigned char shared_bytes[cuda_emulation::kMostSharedBytes];

}  // namespace headscope::cuda

namespace headscope::cuda_emulation {

namespace {

constexpr unsigned kWarp = 32;

struct Thread {
    enum class State { Fresh, Started, Done };
    State state = State::Fresh;
    uint3 index;
    Fiber* fiber = nullptr;
    const std::uint64_t* waits_on = nullptr;  // goes on when this is no longer `seen`
    std::uint64_t seen = 0;
    bool waited_for_previous = false;
    DeferredCopies copies;

    bool can_go_on() const {
        return state == State::Fresh || (state == State::Started && (waits_on == nullptr || *waits_on != seen));
    }
};

struct Warp {
    std::uint64_t generation = 0;
    unsigned arrived = 0;
    std::array<std::array<WarpWords, kWarp>, 2> words{};  // by generation, so that the next call may begin
};

enum class Order { Forward, Reverse, Shuffled };

Order order_from_environment() {
    const char* text = std::getenv("HEADSCOPE_EMULATION_ORDER");
    const std::string_view order = text == nullptr ? "forward" : text;
    return order == "reverse" ? Order::Reverse : order == "shuffled" ? Order::Shuffled : Order::Forward;
}

class Block {
public:
    // `dependent`: every thread has to wait for the kernel in front.
    std::string run(const dim3& size, bool dependent, const std::function<void()>& body);

    void barrier();
    const WarpWords* gather(const std::uint32_t* words, unsigned count);
    DeferredCopies& copies() { return threads_[current_].copies; }
    void wait_for_previous() { threads_[current_].waited_for_previous = true; }
    // Ends the launch.
    void complain(const std::string& why);

private:
    void prepare(const dim3& size);
    bool resume(unsigned number);
    Fiber& turn_to(unsigned number);
    void wait(const std::uint64_t& generation);
    std::string stuck() const;
    Fiber& idle_fiber();

    std::vector<Thread> threads_;
    std::vector<Warp> warps_;
    std::vector<unsigned> order_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Fiber*> idle_;
    unsigned current_ = 0;
    unsigned alive_ = 0;
    unsigned at_barrier_ = 0;
    std::uint64_t barriers_ = 0;
    std::string complaint_;
    bool dependent_ = false;
    const std::function<void()>* body_ = nullptr;
    const Order wanted_order_ = order_from_environment();
    std::mt19937 random_{1};
};

void Block::prepare(const dim3& size) {
    const unsigned count = size.x * size.y * size.z;
    threads_.assign(count, {});
    warps_.assign((count + kWarp - 1) / kWarp, {});
    for (unsigned number = 0; number < count; ++number) {
        threads_[number].index = {number % size.x, number / size.x % size.y, number / (size.x * size.y)};
    }
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0U);
    if (wanted_order_ == Order::Reverse) {
        std::reverse(order_.begin(), order_.end());
    } else if (wanted_order_ == Order::Shuffled) {
        std::shuffle(order_.begin(), order_.end(), random_);
    }
    alive_ = count;
    at_barrier_ = 0;
    complaint_.clear();
}

std::string Block::run(const dim3& size, bool dependent, const std::function<void()>& body) {
    prepare(size);
    dependent_ = dependent;
    body_ = &body;
    while (alive_ > 0) {
        bool moved = false;
        for (const unsigned number : order_) {
            if (threads_[number].can_go_on()) {
                moved = resume(number) || moved;
            }
        }
        if (!moved && complaint_.empty()) {
            complaint_ = stuck();
        }
        if (!complaint_.empty()) {
            // What was suspended never goes on; its stacks go with their fibers.
            idle_.clear();
            fibers_.clear();
            return complaint_;
        }
    }
    return {};
}

// Makes this the thread that runs; its fiber is to be entered next.
Fiber& Block::turn_to(unsigned number) {
    Thread& thread = threads_[number];
    if (thread.state == Thread::State::Fresh) {
        thread.fiber = &idle_fiber();
        thread.fiber->start(body_);
        thread.state = Thread::State::Started;
    }
    current_ = number;
    threadIdx = thread.index;
    thread.waits_on = nullptr;
    return *thread.fiber;
}

bool Block::resume(unsigned number) {
    turn_to(number).resume();
    Thread& back = threads_[current_];  // not always the one that was resumed: they hand over to each other
    if (back.fiber->idle()) {
        back.state = Thread::State::Done;
        idle_.push_back(back.fiber);
        --alive_;
        if (at_barrier_ > 0) {
            complaint_ = fmt::format("thread {} ended while {} others wait at a barrier", current_, at_barrier_);
        }
        if (dependent_ && !back.waited_for_previous) {
            complaint_ = "a kernel was launched before the one in front is done, and did not wait for it";
        }
    }
    return true;
}

Fiber& Block::idle_fiber() {
    if (idle_.empty()) {
        fibers_.push_back(std::make_unique<Fiber>());
        return *fibers_.back();
    }
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return *fiber;
}

void Block::wait(const std::uint64_t& generation) {
    Thread& thread = threads_[current_];
    thread.waits_on = &generation;
    thread.seen = generation;
    // The next of the warp goes on at once: half the switches of going through run(), which the other orders do.
    const unsigned next = current_ % kWarp + 1 < kWarp ? current_ + 1 : current_ + 1 - kWarp;
    if (wanted_order_ == Order::Forward && next < threads_.size() && threads_[next].can_go_on()) {
        Fiber& own = *thread.fiber;
        own.hand_over(turn_to(next));
    } else {
        thread.fiber->suspend();
    }
}

void Block::barrier() {
    if (alive_ != threads_.size()) {
        complaint_ = fmt::format("a barrier is reached when {} of {} threads have ended", threads_.size() - alive_,
                                 threads_.size());
    }
    if (++at_barrier_ == alive_) {
        at_barrier_ = 0;
        ++barriers_;
        return;
    }
    wait(barriers_);
}

void Block::complain(const std::string& why) {
    complaint_ = why;
    wait(barriers_);
}

const WarpWords* Block::gather(const std::uint32_t* words, unsigned count) {
    Warp& warp = warps_[current_ / kWarp];
    if ((current_ / kWarp + 1) * kWarp > threads_.size()) {
        complain("a shuffle takes a whole warp");
    }
    const std::uint64_t generation = warp.generation;
    std::copy_n(words, count, warp.words[generation % 2][current_ % kWarp].begin());
    if (++warp.arrived == kWarp) {
        warp.arrived = 0;
        ++warp.generation;
    } else {
        wait(warp.generation);
    }
    return warp.words[generation % 2].data();
}

std::string Block::stuck() const {
    unsigned waiting = 0;
    for (const Warp& warp : warps_) {
        waiting += warp.arrived;
    }
    return fmt::format("{} threads wait at a barrier and {} in a shuffle for others that never come", at_barrier_,
                       waiting);
}

std::mutex one_launch_at_a_time;  // shared memory is one array

Block& block() {
    static thread_local const auto the_block = std::make_unique<Block>();  // a module has little memory for threads
    return *the_block;
}

std::size_t launched_shared_bytes = 0;

// Garbage in what the launch asked for; what lies behind is no one's.
void spoil_shared_memory(std::size_t bytes) {
    launched_shared_bytes = bytes;
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(cuda::shared_bytes, kMostSharedBytes);
#endif
    std::memset(cuda::shared_bytes, 0xFF, bytes);
#if defined(__SANITIZE_ADDRESS__)
    ASAN_POISON_MEMORY_REGION(cuda::shared_bytes + bytes, kMostSharedBytes - bytes);
#endif
}

}  // namespace

std::string run_launch(const LaunchShape& shape, const std::function<void()>& thread) {
    const std::lock_guard lock(one_launch_at_a_time);
    gridDim = shape.grid;
    blockDim = shape.block;
    for (unsigned z = 0; z < shape.grid.z; ++z) {
        for (unsigned y = 0; y < shape.grid.y; ++y) {
            for (unsigned x = 0; x < shape.grid.x; ++x) {
                blockIdx = {x, y, z};
                spoil_shared_memory(shape.shared_bytes);
                if (std::string complaint = block().run(shape.block, shape.dependent, thread); !complaint.empty()) {
                    return complaint;
                }
            }
        }
    }
    return {};
}

void synchronize_threads() {
    block().barrier();
}

void wait_for_previous() {
    block().wait_for_previous();
}

const WarpWords* gather(const std::uint32_t* words, unsigned count) {
    return block().gather(words, count);
}

DeferredCopies& deferred_copies() {
    return block().copies();
}

void complain(const std::string& why) {
    block().complain(why);
}

bool is_shared(const void* memory, std::size_t bytes) {
    const auto* first = static_cast<const unsigned char*>(memory);
    return first >= cuda::shared_bytes && first + bytes <= cuda::shared_bytes + launched_shared_bytes;
}

}  // namespace headscope::cuda_emulation

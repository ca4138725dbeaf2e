#include "fibers.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace headscope::cuda_emulation {

namespace {

constexpr std::size_t kStackBytes = 256 * 1024;  // reserved; only what a thread touches is ever backed by memory

thread_local Fiber* starting = nullptr;

// Where resume() was called.
struct Caller {
    void* place = nullptr;
    const void* stack = nullptr;  // for the address sanitizer
    std::size_t stack_bytes = 0;
};
thread_local Caller caller;

}  // namespace

#if defined(__x86_64__)
// swapcontext() makes a system call; a block of 256 threads switches thousands of times. Only what a call preserves is
// kept: six registers and the stack pointer.
extern "C" void headscope_emulation_switch(void** save, void* load);
asm(R"(
    .text
    .p2align 4
    .globl headscope_emulation_switch
    .hidden headscope_emulation_switch
    .type headscope_emulation_switch, @function
headscope_emulation_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size headscope_emulation_switch, .-headscope_emulation_switch
)");

struct Fiber::Context {
    void* place = nullptr;
    void* stack = nullptr;
    void prepare(void (*entry)()) {
        const auto top = reinterpret_cast<std::uintptr_t>(stack) + kStackBytes;
        auto* at = reinterpret_cast<std::uintptr_t*>(top & ~std::uintptr_t{15});
        *--at = 0;  // where a caller's return address would be
        *--at = reinterpret_cast<std::uintptr_t>(entry);
        for (int saved = 0; saved < 6; ++saved) {
            *--at = 0;
        }
        place = at;
    }
};

namespace {

void switch_stacks(void*& save, void*& load) {
    headscope_emulation_switch(&save, load);
}

}  // namespace
#else
struct Fiber::Context {
    void* place = nullptr;  // a ucontext_t
    void* stack = nullptr;
    ucontext_t context{};
    void prepare(void (*entry)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = stack;
        context.uc_stack.ss_size = kStackBytes;
        makecontext(&context, entry, 0);
        place = &context;
    }
};

namespace {

void switch_stacks(void*& save, void*& load) {
    static thread_local ucontext_t of_caller;
    if (save == nullptr) {
        save = &of_caller;
    }
    swapcontext(static_cast<ucontext_t*>(save), static_cast<ucontext_t*>(load));
}

}  // namespace
#endif

namespace {

// From the stack that `save` is to remember to the one at `load`, whose bounds the address sanitizer has to know.
void switch_to(void*& save, void*& load, [[maybe_unused]] const void* stack, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
    void* own_frames = nullptr;
    __sanitizer_start_switch_fiber(&own_frames, stack, bytes);
    switch_stacks(save, load);
    __sanitizer_finish_switch_fiber(own_frames, nullptr, nullptr);
#else
    switch_stacks(save, load);
#endif
}

}  // namespace

Fiber::Fiber() : context_(std::make_unique<Context>()) {
    context_->stack =
        mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (context_->stack == MAP_FAILED) {
        throw std::bad_alloc();
    }
    context_->prepare(&Fiber::enter);
}

Fiber::~Fiber() {
    munmap(context_->stack, kStackBytes);
}

void Fiber::enter() {
    starting->loop();
}

void Fiber::loop() {
#if defined(__SANITIZE_ADDRESS__)
    const void* stack = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &stack, &bytes);
    if (caller.stack == nullptr) {  // the first of all comes from there
        caller.stack = stack;
        caller.stack_bytes = bytes;
    }
#endif
    for (;;) {
        (*body_)();
        body_ = nullptr;
        suspend();
    }
}

void Fiber::resume() {
    starting = this;
    switch_to(caller.place, context_->place, context_->stack, kStackBytes);
}

void Fiber::suspend() {
    switch_to(context_->place, caller.place, caller.stack, caller.stack_bytes);
}

void Fiber::hand_over(Fiber& other) {
    starting = &other;
    switch_to(context_->place, other.context_->place, other.context_->stack, kStackBytes);
}

}  // namespace headscope::cuda_emulation

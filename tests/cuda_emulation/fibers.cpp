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
    void* own = nullptr;
    void* caller = nullptr;
    void* stack = nullptr;
    void prepare(void (*entry)()) {
        auto top = reinterpret_cast<std::uintptr_t>(stack) + kStackBytes;
        auto* place = reinterpret_cast<std::uintptr_t*>(top & ~std::uintptr_t{15});
        *--place = 0;  // where a caller's return address would be
        *--place = reinterpret_cast<std::uintptr_t>(entry);
        for (int saved = 0; saved < 6; ++saved) {
            *--place = 0;
        }
        own = place;
    }
    void go() { headscope_emulation_switch(&caller, own); }
    void back() { headscope_emulation_switch(&own, caller); }
    void* caller_bottom = nullptr;  // for the address sanitizer
    std::size_t caller_bytes = 0;
};
#else
struct Fiber::Context {
    ucontext_t own{};
    ucontext_t caller{};
    void* stack = nullptr;
    void prepare(void (*entry)()) {
        getcontext(&own);
        own.uc_stack.ss_sp = stack;
        own.uc_stack.ss_size = kStackBytes;
        makecontext(&own, entry, 0);
    }
    void go() { swapcontext(&caller, &own); }
    void back() { swapcontext(&own, &caller); }
    void* caller_bottom = nullptr;
    std::size_t caller_bytes = 0;
};
#endif

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
    __sanitizer_finish_switch_fiber(nullptr, const_cast<const void**>(&context_->caller_bottom),
                                    &context_->caller_bytes);
#endif
    for (;;) {
        (*body_)();
        body_ = nullptr;
        switch_back();
    }
}

void Fiber::resume() {
    starting = this;
    switch_to_fiber();
}

void Fiber::suspend() {
    switch_back();
}

void Fiber::switch_to_fiber() {
#if defined(__SANITIZE_ADDRESS__)
    void* own_frames = nullptr;
    __sanitizer_start_switch_fiber(&own_frames, context_->stack, kStackBytes);
    context_->go();
    __sanitizer_finish_switch_fiber(own_frames, nullptr, nullptr);
#else
    context_->go();
#endif
}

void Fiber::switch_back() {
#if defined(__SANITIZE_ADDRESS__)
    void* own_frames = nullptr;
    __sanitizer_start_switch_fiber(&own_frames, context_->caller_bottom, context_->caller_bytes);
    context_->back();
    __sanitizer_finish_switch_fiber(own_frames, const_cast<const void**>(&context_->caller_bottom),
                                    &context_->caller_bytes);
#else
    context_->back();
#endif
}

}  // namespace headscope::cuda_emulation

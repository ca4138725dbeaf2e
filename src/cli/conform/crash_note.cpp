#include "cli/conform/crash_note.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <vector>

#include <unistd.h>

namespace headscope {
namespace {

constexpr std::array kSignals{SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE};

// A signal handler must not allocate or wait, so its text is prepared in advance. Each thread writes its own slot,
// first the text and then its length, so that a partial text is never printed.
struct Slot {
    std::atomic<bool> taken{false};
    std::atomic<std::size_t> length{0};
    std::array<char, 1024> text{};
};
std::array<Slot, 8> slots;
std::array<struct sigaction, kSignals.size()> before;

// A thread's slot while it lives, and a stack for the handler in case the thread's own has overflowed. Without a slot
// if there are more threads than slots.
class ThreadNote {
public:
    ThreadNote() {
        for (Slot& each : slots) {
            if (!each.taken.exchange(true)) {
                slot_ = &each;
                break;
            }
        }
        stack_t alternate{};
        alternate.ss_sp = stack_.data();
        alternate.ss_size = stack_.size();
        stack_t existing{};
        if (sigaltstack(nullptr, &existing) == 0 && (existing.ss_flags & SS_DISABLE) != 0) {
            has_stack_ = sigaltstack(&alternate, nullptr) == 0;
        }
    }
    ThreadNote(const ThreadNote&) = delete;
    ThreadNote& operator=(const ThreadNote&) = delete;
    ~ThreadNote() {
        set("");
        if (slot_ != nullptr) {
            slot_->taken = false;
        }
        if (has_stack_) {
            stack_t none{};
            none.ss_flags = SS_DISABLE;
            sigaltstack(&none, nullptr);
        }
    }

    void set(std::string_view doing) {
        if (slot_ == nullptr) {
            return;
        }
        slot_->length = 0;
        const std::size_t length = std::min(doing.size(), slot_->text.size());
        std::copy_n(doing.begin(), length, slot_->text.begin());
        slot_->length = length;
    }

private:
    Slot* slot_ = nullptr;
    std::vector<char> stack_ = std::vector<char>(std::size_t{1} << 16U);
    bool has_stack_ = false;
};

void write_all(const char* text, std::size_t length) {
    while (length > 0) {
        const ssize_t written = ::write(STDERR_FILENO, text, length);
        if (written <= 0) {
            return;
        }
        text += written;
        length -= static_cast<std::size_t>(written);
    }
}

const char* name_of(int signal) {
    switch (signal) {
        case SIGSEGV: return "SIGSEGV";
        case SIGABRT: return "SIGABRT";
        case SIGBUS: return "SIGBUS";
        case SIGILL: return "SIGILL";
        default: return "SIGFPE";
    }
}

// Async-signal-safe, including everything it calls. The signal is blocked until it returns; then the previous action
// gets it.
void handle(int signal) {
    const char* name = name_of(signal);
    write_all("\nheadscope: crashed (", 21);
    write_all(name, std::strlen(name));
    write_all(") at\n", 5);
    for (const Slot& each : slots) {
        if (const std::size_t length = each.length; length > 0) {
            write_all(each.text.data(), length);
            write_all("\n", 1);
        }
    }
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        sigaction(kSignals[i], &before[i], nullptr);
    }
    raise(signal);
}

}  // namespace

CrashNote::CrashNote() {
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_ONSTACK;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        sigaction(kSignals[i], &action, &before[i]);
    }
}

CrashNote::~CrashNote() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        sigaction(kSignals[i], &before[i], nullptr);
    }
}

void CrashNote::set(std::string_view doing) {
    thread_local ThreadNote note;
    note.set(doing);
}

}  // namespace headscope

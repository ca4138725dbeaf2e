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

// A handler may not ask for memory, or wait for anybody: what it prints lies ready. Each thread writes a place of its
// own, the text before its length, so that half a text is never told.
struct Place {
    std::atomic<bool> taken{false};
    std::atomic<std::size_t> length{0};
    std::array<char, 1024> text{};
};
std::array<Place, 8> places;
std::array<struct sigaction, kSignals.size()> before;

// A thread's place, for as long as it lives, and a stack for the handler where the thread's own has overflown. Without
// a place where there are more threads than places.
class Seat {
public:
    Seat() {
        for (Place& each : places) {
            if (!each.taken.exchange(true)) {
                place_ = &each;
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
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    ~Seat() {
        say("");
        if (place_ != nullptr) {
            place_->taken = false;
        }
        if (has_stack_) {
            stack_t none{};
            none.ss_flags = SS_DISABLE;
            sigaltstack(&none, nullptr);
        }
    }

    void say(std::string_view doing) {
        if (place_ == nullptr) {
            return;
        }
        place_->length = 0;
        const std::size_t length = std::min(doing.size(), place_->text.size());
        std::copy_n(doing.begin(), length, place_->text.begin());
        place_->length = length;
    }

private:
    Place* place_ = nullptr;
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

// Async-signal-safe, as everything that it calls. The signal is blocked until it returns, and then meets whoever would
// have had it.
void handle(int signal) {
    const char* name = name_of(signal);
    write_all("\nheadscope: crashed (", 21);
    write_all(name, std::strlen(name));
    write_all(") at\n", 5);
    for (const Place& each : places) {
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

void CrashNote::say(std::string_view doing) {
    thread_local Seat seat;
    seat.say(doing);
}

}  // namespace headscope

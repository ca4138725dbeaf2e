#include "cli/stop_signal.h"

#include <atomic>
#include <csignal>
#include <thread>

#include <unistd.h>

namespace headscope {
namespace {

std::atomic<int> stop{0};

sigset_t stop_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    struct sigaction hangup = {};
    sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) {
        sigaddset(&signals, SIGHUP);
    }
    return signals;
}

void unblock(const sigset_t& signals) {
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

sigset_t interrupt() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    return signals;
}

}  // namespace

void listen_for_stop() {
    const sigset_t signals = stop_signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    for (const int signal : {SIGINT, SIGTERM}) {  // shells start commands in the background with SIGINT ignored
        std::signal(signal, SIG_DFL);
    }
    std::thread([signals] {
        int received = 0;
        sigwait(&signals, &received);
        stop = received;
        unblock(signals);  // the next one meets the default action, in this thread
        for (;;) {
            ::pause();
        }
    }).detach();
}

bool stop_requested() {
    return stop != 0;
}

void end_by_stop_signal() {
    if (stop != 0) {
        unblock(stop_signals());
        std::raise(stop);
    }
}

void hold_interrupts() {
    const sigset_t signals = interrupt();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

bool take_interrupt() {
    const sigset_t signals = interrupt();
    const timespec now{};
    return sigtimedwait(&signals, nullptr, &now) == SIGINT;
}

Interruptible::Interruptible() {
    unblock(interrupt());
}

Interruptible::~Interruptible() {
    hold_interrupts();
}

}  // namespace headscope

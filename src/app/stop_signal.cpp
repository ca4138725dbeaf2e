#include "app/stop_signal.h"

#include <csignal>

namespace headscope {
namespace {

// The only thing that this handler may touch: the signal that came.
volatile std::sig_atomic_t stop = 0;

void handle(int signal) {
    stop = signal;
}

}  // namespace

void listen_for_stop() {
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction hangup = {};
    sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) {  // else nohup wants us to go on
        sigaction(SIGHUP, &action, nullptr);
    }
}

bool stop_requested() {
    return stop != 0;
}

void end_by_stop_signal() {
    if (stop != 0) {
        std::signal(stop, SIG_DFL);
        std::raise(stop);
    }
}

}  // namespace headscope

#include "app/stop_signal.h"

#include <csignal>

namespace headscope {
namespace {

// The only thing a signal handler may touch, and the only such variable of the program.
volatile std::sig_atomic_t stop = 0;

void handle(int) {
    stop = 1;
}

}  // namespace

void listen_for_stop() {
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool stop_requested() {
    return stop != 0;
}

}  // namespace headscope

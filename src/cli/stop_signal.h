// SIGINT, SIGTERM and SIGHUP as a request to stop, which long work polls at convenient moments.
//
// No handler is installed. A handler runs on the stack of whichever thread the signal interrupts, and oneDNN's AVX-512
// products keep data where a handler would push its frame (uxlfoundation/oneDNN#4845). So every thread blocks these
// signals, and one thread that computes nothing waits for them.
#pragma once

namespace headscope {

// The first of these signals from now on only makes stop_requested() true; the second ends the program at once. SIGHUP
// stays ignored where it was, as under nohup. Call it before any other thread starts: threads inherit what they block,
// and a thread that blocks nothing would end the program at the first signal.
void listen_for_stop();
bool stop_requested();
// Ends the program by the signal that was received, so that a shell sees which (128 plus its number). Returns if there
// was none.
void end_by_stop_signal();

// For a program that talks with its user: SIGINT ends an answer, not the program. From now on this thread and those
// that it starts later hold it back. Call it before any other thread starts.
void hold_interrupts();
// Whether a SIGINT that was held back came since the last call.
bool take_interrupt();
// While one exists, SIGINT ends the program.
class Interruptible {
public:
    Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;
    ~Interruptible();
};

}  // namespace headscope

// SIGINT and SIGTERM as a wish to stop that long work asks for at convenient moments.
#pragma once

namespace headscope {

// From now on the first of these signals only makes stop_requested() true; a second one ends the program at once.
void listen_for_stop();
bool stop_requested();
// Ends the program by the signal that came, so that a shell sees what ended it (128 and its number). Returns where none
// did.
void end_by_stop_signal();

}  // namespace headscope

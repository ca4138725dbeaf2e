// Undo and redo. Keeps whole states, which are small.
#pragma once

#include <chrono>
#include <deque>

#include "viewer/session/state.h"

namespace headscope::viewer {

class History {
public:
    using Clock = std::chrono::steady_clock;

    explicit History(ViewState first) : now_(std::move(first)) {}

    // Records the current state. Changes in quick succession, such as typing or dragging, are one step.
    void note(const ViewState& state, Clock::time_point when);

    // Replaces the current state by one that the program completed: not a step of its own.
    void amend(const ViewState& state) { now_ = state; }

    bool can_undo() const { return !past_.empty(); }
    bool can_redo() const { return !future_.empty(); }
    // The state to show; the current one if there is nothing to undo or redo.
    const ViewState& undo();
    const ViewState& redo();

private:
    ViewState now_;
    std::deque<ViewState> past_;
    std::deque<ViewState> future_;
    Clock::time_point changed_{};
};

}  // namespace headscope::viewer

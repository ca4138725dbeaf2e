// Undo and redo over whole states, which are small.
#pragma once

#include <chrono>
#include <deque>

#include "viewer/session/state.h"

namespace headscope::viewer {

class History {
public:
    using Clock = std::chrono::steady_clock;

    explicit History(ViewState first) : now_(std::move(first)) {}

    // Takes note of a state that is shown now. What is typed without a pause is one step, and so is what follows
    // within a moment: a word dragged, a layer stepped through.
    void note(const ViewState& state, Clock::time_point when);

    bool can_undo() const { return !past_.empty(); }
    bool can_redo() const { return !future_.empty(); }
    // The state to show; the present one where there is nothing to go to.
    const ViewState& undo();
    const ViewState& redo();

private:
    ViewState now_;
    std::deque<ViewState> past_;
    std::deque<ViewState> future_;
    Clock::time_point changed_{};
};

}  // namespace headscope::viewer

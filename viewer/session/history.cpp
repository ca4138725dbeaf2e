#include "viewer/session/history.h"

#include <utility>

namespace headscope::viewer {

namespace {

constexpr std::size_t kMost = 500;  // states of a few hundred bytes each
constexpr auto kMoment = std::chrono::milliseconds(700);

}  // namespace

void History::note(const ViewState& state, Clock::time_point when) {
    if (state == now_) {
        return;
    }
    const bool goes_on = !past_.empty() && future_.empty() && when - changed_ < kMoment && state.panel == now_.panel;
    if (!goes_on) {
        past_.push_back(now_);
        if (past_.size() > kMost) {
            past_.pop_front();
        }
    }
    future_.clear();
    now_ = state;
    changed_ = when;
}

const ViewState& History::undo() {
    if (!past_.empty()) {
        future_.push_back(std::exchange(now_, past_.back()));
        past_.pop_back();
    }
    return now_;
}

const ViewState& History::redo() {
    if (!future_.empty()) {
        past_.push_back(std::exchange(now_, future_.back()));
        future_.pop_back();
        changed_ = {};
    }
    return now_;
}

}  // namespace headscope::viewer

// Sessions on tiny random models, and helpers that wait for their results.
#pragma once

#include <catch2/catch.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "paint/drawing.h"
#include "tests/viewer/worker_client.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/session/session.h"

namespace headscope::viewer {

constexpr const char* kSentence = "the small dog sees the big cat";

inline ViewState sentence(const std::string& text = kSentence, PanelId panel = PanelId::Figure) {
    ViewState state;
    state.text = text;
    state.panel = panel;
    return state;
}

inline SessionOptions on_cpu(const std::string& model, const ViewState& state) {
    return {.model = model, .device = "cpu", .view = {.state = state}, .fitting_panel = fitting_panel};
}

inline AttentionEdit first_head_off() {
    return {.site = {AttentionKind::EncoderSelf, 0}, .head = 1};
}

// Updates the session like a window, frame by frame.
inline bool update_until(Session& session, const std::function<bool()>& done, double seconds = 60.0) {
    const Clock::time_point start = Clock::now();
    while (seconds_since(start) < seconds) {
        session.update(Clock::now());
        if (done()) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}
inline void settle(Session& session) {
    REQUIRE(update_until(session, [&] { return !session.busy(); }));
}

inline std::string errors_of(const Session& session) {
    std::string all;
    for (const Notice& notice : session.notices()) {
        all += notice.error ? notice.text + "\n" : "";
    }
    return all;
}

// All texts of a drawing, one per line.
inline std::string texts_of(const Drawing& drawing) {
    std::string all;
    for (const Primitive& primitive : drawing.primitives) {
        if (const auto* text = std::get_if<Text>(&primitive.shape)) {
            all += text->content + "\n";
        }
    }
    return all;
}

}  // namespace headscope::viewer

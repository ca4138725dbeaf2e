// Undo and redo.
#include <catch2/catch.hpp>

#include "viewer/session/history.h"

using namespace headscope::viewer;
using std::chrono::milliseconds;

namespace {

constexpr auto kPause = milliseconds(1000);

ViewState saying(const std::string& text, PanelId panel = PanelId::Figure) {
    ViewState state;
    state.text = text;
    state.panel = panel;
    return state;
}

}  // namespace

TEST_CASE("Changes are undone and redone in order", "[history]") {
    History history(saying("a"));
    History::Clock::time_point now{};
    CHECK_FALSE(history.can_undo());
    CHECK_FALSE(history.can_redo());
    CHECK(history.undo() == saying("a"));
    CHECK(history.redo() == saying("a"));
    history.note(saying("a"), now += kPause);
    CHECK_FALSE(history.can_undo());  // nothing has changed
    history.note(saying("b"), now += kPause);
    history.note(saying("c"), now += kPause);
    CHECK(history.undo() == saying("b"));
    history.note(saying("b"), now += kPause);  // as a window says it once a frame
    CHECK(history.undo() == saying("a"));
    CHECK_FALSE(history.can_undo());
    CHECK(history.redo() == saying("b"));
    CHECK(history.redo() == saying("c"));
    CHECK_FALSE(history.can_redo());
    CHECK(history.undo() == saying("b"));
}

TEST_CASE("Typing without a pause is one step", "[history]") {
    History history(saying(""));
    History::Clock::time_point now{};
    for (const char* text : {"T", "Th", "The", "The ", "The c"}) {
        history.note(saying(text), now += milliseconds(150));
    }
    history.note(saying("The cat"), now += kPause);
    CHECK(history.undo() == saying("The c"));
    CHECK(history.undo() == saying(""));
    CHECK_FALSE(history.can_undo());
}

TEST_CASE("Changing the panel is always a separate step", "[history]") {
    History history(saying("a"));
    History::Clock::time_point now{};
    history.note(saying("b"), now += kPause);
    history.note(saying("b", PanelId::Time), now += milliseconds(1));
    CHECK(history.undo() == saying("b"));
    CHECK(history.undo() == saying("a"));
}

TEST_CASE("A change after undo clears redo", "[history]") {
    History history(saying("a"));
    History::Clock::time_point now{};
    history.note(saying("b"), now += kPause);
    history.note(saying("c"), now += kPause);
    history.undo();
    history.note(saying("d"), now += milliseconds(1));  // a step of its own: "b" can be gone back to
    CHECK_FALSE(history.can_redo());
    CHECK(history.undo() == saying("b"));
    CHECK(history.redo() == saying("d"));
    history.note(saying("e"), now += milliseconds(1));  // not one with what was done again
    CHECK(history.undo() == saying("d"));
}

TEST_CASE("Only the newest steps are kept", "[history]") {
    History history(saying("0"));
    History::Clock::time_point now{};
    for (int i = 1; i <= 700; ++i) {
        history.note(saying(std::to_string(i)), now += kPause);
    }
    int steps = 0;
    while (history.can_undo()) {
        history.undo();
        ++steps;
    }
    CHECK(steps == 500);
    CHECK(history.undo() == saying("200"));
}

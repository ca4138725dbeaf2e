#include "viewer/ui/focus.h"

#include <algorithm>
#include <utility>

#include <imgui_internal.h>

namespace headscope::viewer {

namespace {

// Dear ImGui renamed these members.
template <class Context>
void show_ring(Context& of, bool shown) {
    if constexpr (requires { of.NavCursorVisible; }) {
        of.NavCursorVisible = of.NavHighlightItemUnderNav = shown;
    } else {
        of.NavDisableHighlight = !shown;
        of.NavDisableMouseHover = shown;
    }
}

// The pointer points at nothing until it moves.
template <class Context>
void rest_pointer(Context& of) {
    if constexpr (requires { of.NavHighlightItemUnderNav; }) {
        of.NavHighlightItemUnderNav = true;
    } else {
        of.NavDisableMouseHover = true;
    }
}

template <class Context>
bool ring_points(const Context& of) {
    if constexpr (requires { of.NavCursorVisible; }) {
        return of.NavCursorVisible && of.NavHighlightItemUnderNav;
    } else {
        return !of.NavDisableHighlight && of.NavDisableMouseHover;
    }
}

ImGuiContext& context() {
    return *ImGui::GetCurrentContext();
}

const ImGuiWindow* open_popup() {
    return context().OpenPopupStack.empty() ? nullptr : context().OpenPopupStack.back().Window;
}

}  // namespace

std::ptrdiff_t Focus::place() const {
    const ImGuiID typing = context().ActiveId;
    const ImGuiID at = typing != 0 ? typing : on_ ? context().NavId : 0;
    const auto found =
        std::find_if(controls_.begin(), controls_.end(), [at](const Control& control) { return control.id == at; });
    return at == 0 || found == controls_.end() ? -1 : found - controls_.begin();
}

void Focus::step(int by) {
    if (controls_.empty()) {
        return;
    }
    const std::ptrdiff_t count = std::ssize(controls_);
    const std::ptrdiff_t at = place();
    const std::ptrdiff_t next = at < 0 ? (by > 0 ? 0 : count - 1) : (at + by + count) % count;
    move_to(controls_[static_cast<std::size_t>(next)].name);
}

void Focus::step_part(int by) {
    std::vector<std::size_t> firsts;  // of each part
    for (std::size_t i = 0; i < controls_.size(); ++i) {
        if (i == 0 || controls_[i].part != controls_[i - 1].part) {
            firsts.push_back(i);
        }
    }
    if (firsts.empty()) {
        return;
    }
    const auto after =
        std::upper_bound(firsts.begin(), firsts.end(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(place(), 0)));
    const std::ptrdiff_t count = std::ssize(firsts);
    const std::ptrdiff_t part = place() < 0 ? (by > 0 ? -1 : 0) : after - firsts.begin() - 1;
    move_to(controls_[firsts[static_cast<std::size_t>((part + by + count) % count)]].name);
}

void Focus::move_to(const std::string& name) {
    const auto found =
        std::find_if(controls_.begin(), controls_.end(), [&](const Control& control) { return control.name == name; });
    if (found != controls_.end()) {
        wanted_ = found->id;
        on_ = release_ = true;
    }
}

void Focus::leave() {
    on_ = false;
    release_ = true;
    wanted_ = 0;
}

bool Focus::in_menu() {
    return open_popup() != nullptr;
}

void Focus::close_menu() {
    close_from_ = std::max(context().OpenPopupStack.Size - 1, 0);
}

void Focus::stay_here() {
    dialog_ = context().CurrentWindow->RootWindow;
}

void Focus::begin_frame() {
    drawn_.clear();
    dialog_ = nullptr;
    // Dear ImGui may have closed it already, or it had closed by itself.
    if (const int level = std::exchange(close_from_, -1); level >= 0 && level < context().OpenPopupStack.Size) {
        ImGui::ClosePopupToLevel(level, true);
        rest_pointer(context());  // a menu opens when it is pointed at
    }
    if (std::exchange(release_, false)) {
        ImGui::ClearActiveID();
        if (!on_) {
            ImGui::SetWindowFocus(nullptr);
            show_ring(context(), false);
        }
    }
    const ImGuiIO& io = ImGui::GetIO();
    if (std::any_of(std::begin(io.MouseClicked), std::end(io.MouseClicked), [](bool clicked) { return clicked; })) {
        on_ = false;
        wanted_ = 0;
    }
}

void Focus::end_frame() {
    const ImGuiWindow* popup = open_popup();
    const ImGuiWindow* root = popup != nullptr     ? popup->RootWindow
                              : dialog_ != nullptr ? dialog_
                              : drawn_.empty()     ? nullptr
                                                   : drawn_.back().root;
    std::erase_if(drawn_, [root](const Control& control) { return control.root != root; });
    controls_ = std::move(drawn_);
    drawn_.clear();
    // A control that is gone has no keyboard. Dear ImGui takes some frames to give it to a menu.
    constexpr int kFramesToMove = 4;
    lost_ = on_ && context().ActiveId == 0 && !context().NavIdIsAlive ? lost_ + 1 : 0;
    if (lost_ > kFramesToMove) {
        leave();
    }
    ImGuiIO& io = ImGui::GetIO();
    io.ConfigFlags = on_ ? io.ConfigFlags | ImGuiConfigFlags_NavEnableKeyboard
                         : io.ConfigFlags & ~ImGuiConfigFlags_NavEnableKeyboard;
}

void Focus::item(const std::string& name) {
    const ImGuiID id = ImGui::GetItemID();
    if (id == 0 || (ImGui::GetItemFlags() & ImGuiItemFlags_Disabled) != 0) {
        return;
    }
    ImGuiWindow* window = context().CurrentWindow;
    drawn_.push_back({name, id, window, window->RootWindow});
    if (wanted_ == id) {
        wanted_ = 0;
        ImGui::SetFocusID(id, window);
        show_ring(context(), true);
        ImGui::ScrollToItem();
    }
}

std::string Focus::name() const {
    const std::ptrdiff_t at = place();
    return at < 0 ? "" : controls_[static_cast<std::size_t>(at)].name;
}

bool keyboard_points_at_item() {
    return ring_points(context()) && context().NavId == ImGui::GetItemID();
}

}  // namespace headscope::viewer

// Named positions and values of the last frame, for scripts and tests.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include <imgui.h>

#include "paint/drawing.h"
#include "viewer/draw/painter.h"
#include "viewer/ui/focus.h"

namespace headscope::viewer {

class Probes {
public:
    Focus* focus = nullptr;  // hears of every item
    void clear();

    // Names the last item of Dear ImGui; scripts can check `value`. The value "cut" has the names of the items that end
    // beyond the right edge of their part of the window.
    void item(const std::string& name, const std::string& value = {});
    void value(const std::string& name, const std::string& value);
    // Names the parts of a drawing "<name>.<role>.<number>", such as "figure.swatch.3" and "figure.query-label.7".
    void drawing(const std::string& name, const Drawing& drawing, const Placement& placement);

    // The centre of an item in the window; nullopt if it was not in the last frame.
    std::optional<ImVec2> find(const std::string& name) const;
    // One of everything in the window, for any number: of the items for an even one, of a drawing's parts for an odd
    // one. nullopt if there are none.
    std::optional<ImVec2> any(std::size_t number) const;
    std::optional<std::string> value_of(const std::string& name) const;
    // Every value: the texts of most widgets.
    template <class Each>
    void each_text(const Each& each) const {
        for (const auto& [name, text] : values_) {
            each(text);
        }
    }
    // All names and values, for error messages.
    std::string list() const;

private:
    struct Shown {
        const Drawing* drawing;
        Placement placement;
    };
    std::map<std::string, ImVec2> places_;
    std::map<std::string, std::string> values_;
    std::map<std::string, Shown> drawings_;
};

}  // namespace headscope::viewer

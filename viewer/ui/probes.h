// Where things of the last frame stand, by name: how a script finds what it points at, and what tests read.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <imgui.h>

#include "paint/drawing.h"
#include "viewer/draw/painter.h"

namespace headscope::viewer {

class Probes {
public:
    void clear();

    // The item that Dear ImGui was given last is called `name`; `value` is what it says, for expectations.
    void item(const std::string& name, const std::string& value = {});
    void value(const std::string& name, const std::string& value);
    // A drawing whose parts are called "<name>.<role>.<number>", such as "figure.swatch.3" and "figure.query-label.7".
    void drawing(const std::string& name, const Drawing& drawing, const Placement& placement);

    // The middle of what has this name, in the window; nullopt when it was not in the last frame.
    std::optional<ImVec2> find(const std::string& name) const;
    std::optional<std::string> value_of(const std::string& name) const;
    // All names and values there are, for messages.
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

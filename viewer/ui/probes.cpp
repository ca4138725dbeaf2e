#include "viewer/ui/probes.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace headscope::viewer {

namespace {

// The number by which scripts address a primitive of a role.
int number_of(const Mark& mark) {
    switch (mark.role) {
        case Role::Swatch: return mark.head;
        case Role::QueryLabel:
        case Role::ChosenWord: return mark.query;
        case Role::KeyLabel: return mark.key;
        default: return mark.item;
    }
}

struct Middle {
    Point operator()(const Rect& rect) const { return {rect.x + 0.5 * rect.width, rect.y + 0.5 * rect.height}; }
    Point operator()(const Line& line) const { return {0.5 * (line.x1 + line.x2), 0.5 * (line.y1 + line.y2)}; }
    Point operator()(const Polygon& polygon) const {
        Point sum;
        for (const Point& corner : polygon.corners) {
            sum.x += corner.x / static_cast<double>(polygon.corners.size());
            sum.y += corner.y / static_cast<double>(polygon.corners.size());
        }
        return sum;
    }
    Point operator()(const Text& text) const {
        const double along = 0.3 * text.size * (text.anchor == Anchor::End ? -1.0 : text.anchor == Anchor::Start);
        return text.upwards ? Point{text.x - 0.35 * text.size, text.y - along}
                            : Point{text.x + along, text.y - 0.35 * text.size};
    }
};

bool matches(const Mark& mark, const std::string& role, const std::string& which) {
    if (role != name_of(mark.role)) {
        return false;
    }
    // "L5H3" for a head of a layer.
    const std::string place = fmt::format("L{}H{}", mark.layer, mark.head);
    const std::string pair = fmt::format("{}-{}", mark.query, mark.key);
    return which == std::to_string(number_of(mark)) || (mark.layer > 0 && which == place) ||
           (mark.query >= 0 && mark.key >= 0 && which == pair);
}

}  // namespace

void Probes::clear() {
    places_.clear();
    values_.clear();
    drawings_.clear();
    values_["cut"] = "";
}

void Probes::item(const std::string& name, const std::string& value) {
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    places_[name] = ImVec2(0.5F * (low.x + high.x), 0.5F * (low.y + high.y));
    values_[name] = value;
    const float slack = ImGui::GetStyle().ItemSpacing.x;  // by which rows of lists are wider than their text
    if (high.x > ImGui::GetWindowDrawList()->GetClipRectMax().x + slack) {
        values_["cut"] += name + " ";
    }
    if (focus != nullptr) {
        focus->item(name);
    }
}

void Probes::value(const std::string& name, const std::string& value) {
    values_[name] = value;
}

void Probes::drawing(const std::string& name, const Drawing& drawing, const Placement& placement) {
    drawings_[name] = {&drawing, placement};
    values_[name + ".title"] = drawing.title;
    values_[name + ".description"] = drawing.description;
}

std::optional<ImVec2> Probes::find(const std::string& name) const {
    if (const auto place = places_.find(name); place != places_.end()) {
        return place->second;
    }
    const std::size_t first = name.find('.');
    const std::size_t last = name.rfind('.');
    const auto shown = drawings_.find(name.substr(0, first));
    if (first == std::string::npos || last == first || shown == drawings_.end()) {
        return std::nullopt;
    }
    const std::string role = name.substr(first + 1, last - first - 1);
    const std::string which = name.substr(last + 1);
    for (const Primitive& primitive : shown->second.drawing->primitives) {
        if (matches(primitive.mark, role, which)) {
            const Point middle = std::visit(Middle{}, primitive.shape);
            return shown->second.placement.to_window(middle.x, middle.y);
        }
    }
    return std::nullopt;
}

std::optional<ImVec2> Probes::any(std::size_t number) const {
    if (number % 2 == 0 && !places_.empty()) {
        return std::next(places_.begin(), static_cast<std::ptrdiff_t>(number / 2 % places_.size()))->second;
    }
    std::size_t parts = 0;
    for (const auto& [name, shown] : drawings_) {
        parts += shown.drawing->primitives.size();
    }
    std::size_t left = parts == 0 ? 0 : number / 2 % parts;
    for (const auto& [name, shown] : drawings_) {
        const std::vector<Primitive>& primitives = shown.drawing->primitives;
        if (left < primitives.size()) {
            const Point middle = std::visit(Middle{}, primitives[left].shape);
            return shown.placement.to_window(middle.x, middle.y);
        }
        left -= primitives.size();
    }
    return std::nullopt;
}

std::optional<std::string> Probes::value_of(const std::string& name) const {
    const auto value = values_.find(name);
    return value == values_.end() ? std::nullopt : std::optional(value->second);
}

std::string Probes::list() const {
    std::string text;
    for (const auto& [name, value] : values_) {
        text += "  " + name + (value.empty() ? "" : " = " + value) + "\n";
    }
    return text;
}

}  // namespace headscope::viewer

// Hit testing: finds the primitive at a point of a drawing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "paint/drawing.h"

namespace headscope {

// A set of roles.
class RoleSet {
public:
    constexpr RoleSet() = default;
    constexpr RoleSet(std::initializer_list<Role> roles) {
        for (const Role role : roles) {
            bits_ |= bit(role);
        }
    }
    static constexpr RoleSet all_but(std::initializer_list<Role> roles) {
        RoleSet set(roles);
        set.bits_ = ~set.bits_;
        return set;
    }
    constexpr bool has(Role role) const { return (bits_ & bit(role)) != 0; }

private:
    static constexpr std::uint64_t bit(Role role) { return std::uint64_t{1} << static_cast<unsigned>(role); }
    std::uint64_t bits_ = 0;
};

// The index of the topmost primitive of these roles at a point. Rectangles (also outlines), polygons and the boxes of
// texts must contain the point; a line must pass within `tolerance` of it. Among lines the nearest wins, on a tie the
// topmost.
std::optional<std::size_t> hit(const Drawing& drawing, Point at, double tolerance,
                               RoleSet roles = RoleSet::all_but({Role::Background}));

// The distance of a point from the line's edge; 0 on the line.
double distance_to(const Line& line, Point at);
// The bounding box of a text, from text_width().
Rect box_of(const Text& text);

}  // namespace headscope

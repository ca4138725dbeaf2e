// What stands at a point of a drawing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "paint/drawing.h"

namespace headscope {

// Some of the roles.
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

// The topmost primitive of these roles at a point, as its index: rectangles (outlines too) and polygons that hold it,
// texts whose box holds it, else the line that passes nearest within `tolerance` of its edge. Where lines cross, the
// nearest one counts, and of equally near ones the topmost.
std::optional<std::size_t> hit(const Drawing& drawing, Point at, double tolerance,
                               RoleSet roles = RoleSet::all_but({Role::Background}));

// How far a point lies from a line's edge; 0 on it.
double distance_to(const Line& line, Point at);
// The box that a text takes, by text_width.
Rect box_of(const Text& text);

}  // namespace headscope

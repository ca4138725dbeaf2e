// Vectors of texts as points of a plane, with their texts beside them.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "observe/principal_axes.h"
#include "paint/sketch.h"

namespace headscope {

// A point for each place, its label on the side where it hides nothing. Labels without room are left out, which a note
// counts; their points keep a tooltip, and points that touch share a label. One scale for both directions, so that
// distances are true, but for places so far out that the others would be one spot: they are rings at the edge of the
// plane, which a note names. A point has item = its index. Those after the first `of_first` are of another text, in
// another colour.
Drawing draw_vector_map(const PrincipalPlane& plane, const std::vector<std::string>& labels, const std::string& title,
                        const Look& look = {}, std::size_t of_first = std::numeric_limits<std::size_t>::max());

}  // namespace headscope

// A drawing's primitives as lines of text, to hold against a golden file.
#pragma once

#include <string>

#include <fmt/format.h>

#include "observe/drawing.h"

namespace headscope::test {

inline const char* name_of(Role role) {
    switch (role) {
        case Role::Background: return "background";
        case Role::Title: return "title";
        case Role::Swatch: return "swatch";
        case Role::SwatchLabel: return "swatch_label";
        case Role::ChosenWord: return "chosen_word";
        case Role::Slab: return "slab";
        case Role::Attention: return "attention";
        case Role::QueryLabel: return "query_label";
        case Role::KeyLabel: return "key_label";
        case Role::Note: return "note";
    }
    return "?";
}

inline std::string dump(const Primitive& primitive) {
    const Mark& mark = primitive.mark;
    std::string line = fmt::format("{} head {} query {} key {} {} {:.2f}", name_of(mark.role), mark.head, mark.query,
                                   mark.key, to_hex(primitive.colour), primitive.alpha);
    if (const auto* rect = std::get_if<Rect>(&primitive.shape)) {
        line += fmt::format(" rect {:.1f} {:.1f} {:.1f} {:.1f}", rect->x, rect->y, rect->width, rect->height);
    } else if (const auto* stroke = std::get_if<Line>(&primitive.shape)) {
        line += fmt::format(" line {:.1f} {:.1f} {:.1f} {:.1f} width {:.1f}", stroke->x1, stroke->y1, stroke->x2,
                            stroke->y2, stroke->width);
    } else if (const auto* text = std::get_if<Text>(&primitive.shape)) {
        line += fmt::format(" text {:.1f} {:.1f} size {:.1f}{} anchor {} '{}'", text->x, text->y, text->size,
                            text->upwards ? " upwards" : "", static_cast<int>(text->anchor), text->content);
    }
    return line;
}

inline std::string dump(const Drawing& drawing) {
    std::string lines = fmt::format("{:.1f} x {:.1f} {}\n", drawing.width, drawing.height, drawing.title);
    for (const Primitive& primitive : drawing.primitives) {
        lines += dump(primitive) + "\n";
    }
    return lines;
}

}  // namespace headscope::test

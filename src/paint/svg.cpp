#include "paint/svg.h"

#include <utility>

#include <fmt/format.h>

#include "paint/encoding.h"
#include "support/xml.h"

namespace headscope {

namespace {

constexpr const char* kFonts = "Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

std::string opacity(const char* name, double alpha) {
    return alpha >= 1.0 ? "" : fmt::format(" {}=\"{}\"", name, number_text(alpha));
}

// Closes an element. A tip becomes its <title>, which browsers show as a tooltip.
std::string close(const char* element, const std::string& tip) {
    return tip.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escape_xml(tip), element);
}

std::string write(const Primitive& primitive, const Rect& rect) {
    const std::string colour = to_hex(primitive.colour);
    const std::string paint = rect.stroke > 0.0
                                  ? fmt::format(" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}", colour,
                                                number_text(rect.stroke), opacity("stroke-opacity", primitive.alpha))
                                  : fmt::format(" fill=\"{}\"{}", colour, opacity("fill-opacity", primitive.alpha));
    const std::string corners = rect.radius > 0.0 ? fmt::format(" rx=\"{}\"", number_text(rect.radius)) : "";
    return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}{}{}", number_text(rect.x),
                       number_text(rect.y), number_text(rect.width), number_text(rect.height), corners, paint,
                       close("rect", primitive.mark.tip));
}

std::string write(const Primitive& primitive, const Polygon& polygon) {
    std::string corners;
    for (const Point& corner : polygon.corners) {
        corners += fmt::format("{}{},{}", corners.empty() ? "" : " ", number_text(corner.x), number_text(corner.y));
    }
    return fmt::format("<polygon points=\"{}\" fill=\"{}\"{}{}", corners, to_hex(primitive.colour),
                       opacity("fill-opacity", primitive.alpha), close("polygon", primitive.mark.tip));
}

std::string write(const Primitive& primitive, const Line& line) {
    return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"{}{}",
                       number_text(line.x1), number_text(line.y1), number_text(line.x2), number_text(line.y2),
                       to_hex(primitive.colour), number_text(line.width), opacity("stroke-opacity", primitive.alpha),
                       close("line", primitive.mark.tip));
}

std::string write(const Primitive& primitive, const Text& text) {
    const char* anchor = text.anchor == Anchor::Start    ? ""
                         : text.anchor == Anchor::Middle ? " text-anchor=\"middle\""
                                                         : " text-anchor=\"end\"";
    const std::string turn =
        text.upwards ? fmt::format(" transform=\"rotate(-90 {} {})\"", number_text(text.x), number_text(text.y)) : "";
    // Texts on top of a rectangle with a tip let the pointer through to it.
    const Role role = primitive.mark.role;
    const bool covers =
        role == Role::SwatchLabel || role == Role::KeyLabel || role == Role::Label || role == Role::Value;
    return fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{}{}{}{}>{}</text>\n", number_text(text.x),
                       number_text(text.y), number_text(text.size), to_hex(primitive.colour), anchor,
                       text.bold ? " font-weight=\"bold\"" : "", turn, covers ? " pointer-events=\"none\"" : "",
                       escape_xml(text.content));
}

// The class of a group of primitives, for style sheets and scripts.
std::string class_of(const Mark& mark) {
    return mark.role == Role::Attention ? fmt::format("attention head{}", mark.head) : name_of(mark.role);
}

// What a part stands for, behind the name of its element.
std::string with_data(std::string element, const Mark& mark) {
    std::string data = mark.role == Role::Attention ? " class=\"line\"" : "";
    const auto add = [&](const char* name, int value, int least) {
        data += value >= least ? fmt::format(" data-{}=\"{}\"", name, value) : "";
    };
    add("query", mark.query, 0);
    add("key", mark.key, 0);
    add("head", mark.head, 1);
    return element.insert(element.find(' '), data);
}

}  // namespace

std::string to_svg(const Drawing& drawing, const SvgOptions& options) {
    const std::string width = number_text(drawing.width);
    const std::string height = number_text(drawing.height);
    const std::string title = escape_xml(drawing.title);
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "role=\"img\" {3} font-family=\"{2}\">\n{4}<desc id=\"desc\">{5}</desc>\n",
        width, height, kFonts,
        options.data ? fmt::format("aria-label=\"{}\" aria-describedby=\"desc\"", title)
                     : "aria-labelledby=\"title desc\"",
        options.data ? "" : fmt::format("<title id=\"title\">{}</title>\n", title), escape_xml(drawing.description));
    std::string open;
    for (const Primitive& primitive : drawing.primitives) {
        const std::string group = class_of(primitive.mark);
        if (group != open) {
            // Anti-aliased edges would show seams between adjacent cells.
            const Role role = primitive.mark.role;
            const char* crisp = role == Role::Cell || role == Role::Legend ? " shape-rendering=\"crispEdges\"" : "";
            svg += fmt::format("{}<g class=\"{}\"{}>\n", open.empty() ? "" : "</g>\n", group, crisp);
            open = group;
        }
        std::string element = std::visit([&](const auto& shape) { return write(primitive, shape); }, primitive.shape);
        svg += options.data ? with_data(std::move(element), primitive.mark) : element;
    }
    return svg + (open.empty() ? "</svg>\n" : "</g>\n</svg>\n");
}

}  // namespace headscope

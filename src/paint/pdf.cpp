#include "paint/pdf.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "paint/encoding.h"
#include "paint/outlines.h"
#include "support/utf8.h"

namespace headscope {

namespace {

constexpr double kPoints = 72.0 / 96.0;  // of a pixel

// The operators that draw the page.
class Page {
public:
    explicit Page(const Drawing& drawing) {
        // From pixels downwards to points upwards.
        content_ = fmt::format("{0} 0 0 -{0} 0 {1} cm\n", number_text(kPoints), number_text(drawing.height * kPoints));
        for (const Primitive& primitive : drawing.primitives) {
            choose(primitive);
            outlines_.fill(overlapping(primitive), [this](const Contours& contours) { fill(contours); });
        }
    }

    const std::string& content() const { return content_; }
    // "/A500 <</ca 0.5>>": the opacities that it uses.
    std::string opacities() const {
        std::string all;
        for (const auto& [alpha, name] : alphas_) {
            all += fmt::format("/{} <</ca {}>> ", name, alpha);
        }
        return all;
    }

private:
    // Programs smooth edges: opaque cells overlap, so that the paper does not show through their seams.
    static Primitive overlapping(Primitive primitive) {
        constexpr double kOverlap = 0.2;
        auto* rect = std::get_if<Rect>(&primitive.shape);
        if (rect != nullptr && primitive.mark.role == Role::Cell && primitive.alpha >= 1.0 && rect->stroke == 0.0) {
            rect->width += kOverlap;
            rect->height += kOverlap;
        }
        return primitive;
    }

    void choose(const Primitive& primitive) {
        const auto share = [](std::uint8_t channel) { return number_text(channel / 255.0); };
        const Colour& colour = primitive.colour;
        const std::string alpha = number_text(std::clamp(primitive.alpha, 0.0, 1.0));
        const std::string& name = alphas_.try_emplace(alpha, fmt::format("A{}", alphas_.size())).first->second;
        const std::string chosen =
            fmt::format("/{} gs {} {} {} rg\n", name, share(colour.red), share(colour.green), share(colour.blue));
        if (chosen != chosen_) {
            content_ += chosen;
            chosen_ = chosen;
        }
    }

    void fill(const Contours& contours) {
        for (const std::vector<Point>& contour : contours) {
            for (const Point& point : contour) {
                content_ += fmt::format("{} {} {}\n", number_text(point.x), number_text(point.y),
                                        &point == contour.data() ? "m" : "l");
            }
        }
        content_ += contours.empty() ? "" : "f\n";
    }

    Outlines outlines_{1.0};
    std::string content_;
    std::string chosen_;                         // colour and opacity
    std::map<std::string, std::string> alphas_;  // their names
};

// In UTF-16, which may hold any character.
std::string text_string(const std::string& text) {
    std::string hex = "<FEFF";
    for (std::size_t at = 0; at < text.size();) {
        const char32_t character = next_character(text, at);
        if (character < 0x10000U) {
            hex += fmt::format("{:04X}", static_cast<unsigned>(character));
        } else {
            const unsigned rest = static_cast<unsigned>(character) - 0x10000U;
            hex += fmt::format("{:04X}{:04X}", 0xD800U + (rest >> 10U), 0xDC00U + (rest & 0x3FFU));
        }
    }
    return hex + ">";
}

}  // namespace

std::string to_pdf(const Drawing& drawing) {
    const Page page(drawing);
    const std::string packed = deflated(page.content());
    const std::vector<std::string> objects = {
        "<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [3 0 R] /Count 1>>",
        fmt::format("<</Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents 4 0 R /Resources <</ExtGState <<{}>>>>"
                    ">>",
                    number_text(drawing.width * kPoints), number_text(drawing.height * kPoints), page.opacities()),
        fmt::format("<</Length {} /Filter /FlateDecode>>\nstream\n{}\nendstream", packed.size(), packed),
        fmt::format("<</Title {} /Subject {}>>", text_string(drawing.title), text_string(drawing.description))};
    std::string pdf = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";  // bytes that say that the file is not text
    std::string table = fmt::format("xref\n0 {}\n0000000000 65535 f \n", objects.size() + 1);
    for (std::size_t i = 0; i < objects.size(); ++i) {
        table += fmt::format("{:010} 00000 n \n", pdf.size());
        pdf += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
    }
    const std::size_t at = pdf.size();
    return pdf + table +
           fmt::format("trailer\n<</Size {} /Root 1 0 R /Info {} 0 R>>\nstartxref\n{}\n%%EOF\n", objects.size() + 1,
                       objects.size(), at);
}

}  // namespace headscope

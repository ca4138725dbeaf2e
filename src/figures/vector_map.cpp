#include "figures/vector_map.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "figures/layout.h"
#include "paint/text_width.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope {

namespace {

constexpr double kMapSide = 44.0;  // of the plane
constexpr double kLeastMapSide = 16.0;
constexpr double kDotRadius = 0.38;       // of a point
constexpr double kLabelApart = 0.35;      // from the edge of a point to its label
constexpr double kDotLabelHeight = 1.15;  // of a label's box, in its size
constexpr double kWidestDotLabel = 18.0;  // of a label
constexpr double kAroundDots = 2.2;       // from the outermost points to the edge of the plane

bool hides(const Rect& a, const Rect& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

class VectorMap {
public:
    VectorMap(const PrincipalPlane& plane, const std::vector<std::string>& labels, const std::string& title,
              const Look& look, std::size_t of_first)
        : plane_(plane), labels_(labels), title_(title), of_first_(of_first), sketch_(look), ink_(look.ink) {
        HEADSCOPE_CHECK(labels.size() == plane.places.size(), "each place has a label");
        for (const std::array<double, 2>& place : plane.places) {
            for (std::size_t axis = 0; axis < 2; ++axis) {
                low_.at(axis) = std::min(low_.at(axis), place.at(axis));
                high_.at(axis) = std::max(high_.at(axis), place.at(axis));
            }
        }
        const double longer = std::max(high_[0] - low_[0], high_[1] - low_[1]);
        scale_ = longer > 0.0 ? (kMapSide - 2.0 * kAroundDots) / longer : 1.0;
        const auto side = [&](std::size_t axis) {
            return std::max(kLeastMapSide, (high_.at(axis) - low_.at(axis)) * scale_ + 2.0 * kAroundDots);
        };
        frame_ = {kMargin + 1.6, kMargin + 1.6 * kTitleSize + 1.0, kMapSide, side(1)};
    }

    Drawing draw() {
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false,
                      shortened(title_, (frame_.x + frame_.width - kMargin) / kTitleSize)});
        axes();
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            taken_.push_back(box_around(point(i), kDotRadius));
        }
        std::size_t hidden = 0;
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            hidden += label(i) ? 0U : 1U;
        }
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            mark_point(i);
        }
        double bottom = frame_.y + frame_.height + 0.6 + kSmall;
        if (of_first_ < labels_.size()) {
            bottom += 1.5;
            legend(bottom);
        }
        if (hidden > 0) {
            bottom += 1.5;
            sketch_.text({Role::Note}, ink_.faint,
                         {frame_.x, bottom, kSmall, Anchor::Start, false, false,
                          fmt::format("{} without room", counted(hidden, "label"))});
        }
        const std::string description = fmt::format(
            "{} in the plane of the first two principal components, which have {:.0f} % and {:.0f} % of "
            "the variance.",
            counted(std::ssize(labels_), "vector"), 100.0 * plane_.shares[0], 100.0 * plane_.shares[1]);
        return sketch_.finish(frame_.x + frame_.width + kMargin, bottom + 0.4 + kMargin, title_, description);
    }

private:
    Point point(std::size_t i) const {
        const auto at = [&](std::size_t axis) {
            return (plane_.places[i].at(axis) - (low_.at(axis) + high_.at(axis)) / 2.0) * scale_;
        };
        return {frame_.x + frame_.width / 2.0 + at(0), frame_.y + frame_.height / 2.0 - at(1)};
    }
    static Rect box_around(const Point& middle, double radius) {
        return {middle.x - radius, middle.y - radius, 2.0 * radius, 2.0 * radius};
    }

    // The frame, and lines through the mean of all vectors.
    void axes() {
        const double right = frame_.x + frame_.width, bottom = frame_.y + frame_.height;
        sketch_.rect({Role::Frame}, ink_.rule, {frame_.x, frame_.y, frame_.width, frame_.height, 0.0, 0.08});
        const double zero_x = frame_.x + frame_.width / 2.0 - (low_[0] + high_[0]) / 2.0 * scale_;
        const double zero_y = frame_.y + frame_.height / 2.0 + (low_[1] + high_[1]) / 2.0 * scale_;
        sketch_.line({Role::Grid}, ink_.rule, {zero_x, frame_.y, zero_x, bottom, 0.06});
        sketch_.line({Role::Grid}, ink_.rule, {frame_.x, zero_y, right, zero_y, 0.06});
        const auto name = [&](std::size_t axis) {
            return fmt::format("principal component {}, {:.0f} % of the variance", axis + 1,
                               100.0 * plane_.shares.at(axis));
        };
        sketch_.text(
            {Role::Axis}, ink_.faint,
            {frame_.x + frame_.width / 2.0, bottom + 0.6 + kSmall, kSmall, Anchor::Middle, false, false, name(0)});
        std::string of_height = name(1);
        if (text_width(of_height) * kSmall > frame_.height) {
            of_height = fmt::format("component 2, {:.0f} %", 100.0 * plane_.shares[1]);
        }
        sketch_.text(
            {Role::Axis}, ink_.faint,
            {kMargin + kSmall, frame_.y + frame_.height / 2.0, kSmall, Anchor::Middle, true, false, of_height});
    }

    void legend(double baseline) {
        double at = frame_.x + kDotRadius;
        for (const bool other : {false, true}) {
            const char* name = other ? "the other text" : "the text";
            Rect dot = box_around({at, baseline - kBaseline * kSmall}, kDotRadius);
            dot.radius = kDotRadius;
            sketch_.rect({Role::Legend}, other ? ink_.warning : ink_.accent, dot);
            at += kDotRadius + kLabelApart;
            sketch_.text({Role::Legend}, ink_.text, {at, baseline, kSmall, Anchor::Start, false, false, name});
            at += text_width(name) * kSmall + 1.6;
        }
    }

    // Right of the point, left of it, above or below: where nothing is yet. False if there is no such side.
    bool label(std::size_t i) {
        const std::string text = shortened(labels_[i], kWidestDotLabel);
        const Point middle = point(i);
        const double width = text_width(text) * kSmall, height = kDotLabelHeight * kSmall;
        const double away = kDotRadius + kLabelApart;
        for (const Point& corner :
             {Point{middle.x + away, middle.y - height / 2.0}, Point{middle.x - away - width, middle.y - height / 2.0},
              Point{middle.x - width / 2.0, middle.y - kDotRadius - height},
              Point{middle.x - width / 2.0, middle.y + kDotRadius}}) {
            const Rect box{corner.x, corner.y, width, height};
            const bool inside = box.x > frame_.x && box.x + box.width < frame_.x + frame_.width && box.y > frame_.y &&
                                box.y + box.height < frame_.y + frame_.height;
            if (inside && std::ranges::none_of(taken_, [&](const Rect& other) { return hides(box, other); })) {
                Mark mark{Role::Label};
                mark.item = static_cast<int>(i);
                sketch_.text(
                    std::move(mark), ink_.text,
                    {box.x, box.y + height / 2.0 + kBaseline * kSmall, kSmall, Anchor::Start, false, false, text});
                taken_.push_back(box);
                return true;
            }
        }
        return false;
    }

    void mark_point(std::size_t i) {
        Mark mark{Role::Point};
        mark.item = static_cast<int>(i);
        if (sketch_.tips()) {
            mark.tip = labels_[i];
        }
        Rect dot = box_around(point(i), kDotRadius);
        dot.radius = kDotRadius;
        sketch_.rect(std::move(mark), i < of_first_ ? ink_.accent : ink_.warning, dot);
    }

    const PrincipalPlane& plane_;
    const std::vector<std::string>& labels_;
    const std::string title_;
    const std::size_t of_first_;
    Sketch sketch_;
    const Ink& ink_;
    std::array<double, 2> low_{}, high_{};  // of the places, and of the mean, 0
    double scale_ = 1.0;                    // of the places
    Rect frame_;                            // of the plane
    std::vector<Rect> taken_;               // by points and labels
};

}  // namespace

Drawing draw_vector_map(const PrincipalPlane& plane, const std::vector<std::string>& labels, const std::string& title,
                        const Look& look, std::size_t of_first) {
    return VectorMap(plane, labels, title, look, of_first).draw();
}

}  // namespace headscope

#include "figures/vector_map.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
constexpr double kRing = 0.14;            // of a point that lies outside
constexpr std::size_t kMostNamed = 5;     // of these

bool hides(const Rect& a, const Rect& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

// Which places lie so far from the others that these would be one spot: further from the median than three times the
// distance that three of four places have at most. None if they are more than one in five.
std::vector<bool> far_out(const std::vector<std::array<double, 2>>& places) {
    constexpr double kFar = 3.0, kMost = 0.75;
    constexpr std::size_t kMostFar = 5;  // one in so many
    const auto quantile = [](std::vector<double> values, double share) {
        const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
        std::ranges::nth_element(values, at);
        return *at;
    };
    std::vector<bool> far(places.size(), false);
    if (places.empty()) {
        return far;
    }
    std::array<double, 2> median{};
    for (std::size_t axis = 0; axis < 2; ++axis) {
        std::vector<double> values;
        std::ranges::transform(places, std::back_inserter(values),
                               [axis](const auto& place) { return place.at(axis); });
        median.at(axis) = quantile(std::move(values), 0.5);
    }
    std::vector<double> distances;
    std::ranges::transform(places, std::back_inserter(distances),
                           [&](const auto& place) { return std::hypot(place[0] - median[0], place[1] - median[1]); });
    if (const double most = quantile(distances, kMost); most > 0.0) {
        std::transform(distances.begin(), distances.end(), far.begin(),
                       [&](double distance) { return distance > kFar * most; });
    }
    const auto count = static_cast<std::size_t>(std::ranges::count(far, true));
    return kMostFar * count > far.size() ? std::vector<bool>(far.size(), false) : far;
}

class VectorMap {
public:
    VectorMap(const PrincipalPlane& plane, const std::vector<std::string>& labels, const std::string& title,
              const Look& look, std::size_t of_first)
        : plane_(plane),
          labels_(labels),
          title_(title),
          of_first_(of_first),
          far_(far_out(plane.places)),
          sketch_(look),
          ink_(look.ink) {
        HEADSCOPE_CHECK(labels.size() == plane.places.size(), "each place has a label");
        bool first = true;
        for (std::size_t i = 0; i < plane.places.size(); ++i) {
            for (std::size_t axis = 0; axis < 2 && !far_[i]; ++axis) {
                const double at = plane.places[i].at(axis);
                low_.at(axis) = first ? at : std::min(low_.at(axis), at);
                high_.at(axis) = first ? at : std::max(high_.at(axis), at);
            }
            first = first && far_[i];
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
        for (const std::string& note :
             {outside(), hidden > 0 ? fmt::format("{} without room", counted(hidden, "label")) : ""}) {
            if (!note.empty()) {
                bottom += 1.5;
                sketch_.text({Role::Note}, ink_.faint, {frame_.x, bottom, kSmall, Anchor::Start, false, false, note});
            }
        }
        const std::string description = fmt::format(
            "{} in the plane of the first two principal components, which have {:.0f} % and {:.0f} % of "
            "the variance.",
            counted(std::ssize(labels_), "vector"), 100.0 * plane_.shares[0], 100.0 * plane_.shares[1]);
        return sketch_.finish(frame_.x + frame_.width + kMargin, bottom + 0.4 + kMargin, title_, description);
    }

private:
    // Places that lie far out are moved to the edge of the plane, towards its middle.
    Point point(std::size_t i) const {
        const auto at = [&](std::size_t axis) {
            return (plane_.places[i].at(axis) - (low_.at(axis) + high_.at(axis)) / 2.0) * scale_;
        };
        const double most_x = frame_.width / 2.0 - 2.0 * kDotRadius, most_y = frame_.height / 2.0 - 2.0 * kDotRadius;
        const double out = std::max({1.0, std::abs(at(0)) / most_x, std::abs(at(1)) / most_y});
        return {frame_.x + frame_.width / 2.0 + at(0) / out, frame_.y + frame_.height / 2.0 - at(1) / out};
    }

    // The note that names places far out.
    std::string outside() const {
        const auto count = static_cast<std::size_t>(std::ranges::count(far_, true));
        if (count == 0) {
            return "";
        }
        std::vector<std::string> names;
        for (std::size_t i = 0; i < far_.size(); ++i) {
            const std::string name = fmt::format("\u201c{}\u201d", shortened(labels_[i], kWidestDotLabel / 2.0));
            if (far_[i] && std::ranges::find(names, name) == names.end()) {
                names.push_back(name);
            }
        }
        const bool all = names.size() <= kMostNamed;
        names.resize(std::min(names.size(), kMostNamed));
        return fmt::format("{} far outside, drawn as rings at the edge: {}{}", counted(count, "vector"),
                           fmt::join(names, " "), all ? "" : " \u2026");
    }

    static Rect box_around(const Point& middle, double radius) {
        return {middle.x - radius, middle.y - radius, 2.0 * radius, 2.0 * radius};
    }

    // The frame, and lines through the mean of all vectors, if it is inside.
    void axes() {
        const double right = frame_.x + frame_.width, bottom = frame_.y + frame_.height;
        sketch_.rect({Role::Frame}, ink_.rule, {frame_.x, frame_.y, frame_.width, frame_.height, 0.0, 0.08});
        const double zero_x = frame_.x + frame_.width / 2.0 - (low_[0] + high_[0]) / 2.0 * scale_;
        const double zero_y = frame_.y + frame_.height / 2.0 + (low_[1] + high_[1]) / 2.0 * scale_;
        if (zero_x > frame_.x && zero_x < right) {
            sketch_.line({Role::Grid}, ink_.rule, {zero_x, frame_.y, zero_x, bottom, 0.06});
        }
        if (zero_y > frame_.y && zero_y < bottom) {
            sketch_.line({Role::Grid}, ink_.rule, {frame_.x, zero_y, right, zero_y, 0.06});
        }
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

    // Whether a point that touches this one, and has the same label, has it written.
    bool shares_label(std::size_t i) const {
        return std::ranges::any_of(labelled_, [&](std::size_t other) {
            const Point a = point(i), b = point(other);
            return labels_[other] == labels_[i] && std::hypot(a.x - b.x, a.y - b.y) < 2.0 * kDotRadius;
        });
    }

    // Right of the point, left of it, above or below: where nothing is yet. False if there is no such side.
    bool label(std::size_t i) {
        if (shares_label(i)) {
            return true;
        }
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
                labelled_.push_back(i);
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
        dot.stroke = far_[i] ? kRing : 0.0;
        sketch_.rect(std::move(mark), i < of_first_ ? ink_.accent : ink_.warning, dot);
    }

    const PrincipalPlane& plane_;
    const std::vector<std::string>& labels_;
    const std::string title_;
    const std::size_t of_first_;
    const std::vector<bool> far_;  // by place: outside of the plane
    Sketch sketch_;
    const Ink& ink_;
    std::array<double, 2> low_{}, high_{};  // of the places that are not far out
    double scale_ = 1.0;                    // of the places
    Rect frame_;                            // of the plane
    std::vector<Rect> taken_;               // by points and labels
    std::vector<std::size_t> labelled_;     // points whose labels are written
};

}  // namespace

Drawing draw_vector_map(const PrincipalPlane& plane, const std::vector<std::string>& labels, const std::string& title,
                        const Look& look, std::size_t of_first) {
    return VectorMap(plane, labels, title, look, of_first).draw();
}

}  // namespace headscope

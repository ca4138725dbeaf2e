#include "figures/curve.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "figures/layout.h"
#include "paint/text_width.h"
#include "support/counted.h"

namespace headscope {

namespace {

constexpr double kStroke = 0.16;
constexpr double kPoint = 0.42;
constexpr double kAxisHeight = 3.0;  // the numbers and the label of the x axis
constexpr double kSymbol = 2.2;      // width of a legend symbol
constexpr double kLegendGap = 1.0;   // from a legend name to the next symbol
constexpr double kLegendRow = 1.5;
constexpr double kThinningColumn = 0.1;  // width of a column for thinning

// Uses the unit (k, M) of the axis' largest value.
std::string tick_text(double value, double greatest) {
    return greatest >= 1e6   ? fmt::format("{:g} M", value / 1e6)
           : greatest >= 1e4 ? fmt::format("{:g} k", value / 1e3)
                             : fmt::format("{:g}", value);
}

class Curves {
public:
    Curves(const std::vector<Series>& series, const CurveOptions& options)
        : series_(series), options_(options), sketch_(options.look), ink_(options.look.ink) {
        for (const Series& one : series) {
            for (const Point& point : one.points) {
                if (usable(point)) {
                    x_low_ = std::min(x_low_, place(point.x)), x_high_ = std::max(x_high_, place(point.x));
                    y_low_ = std::min(y_low_, scaled(point.y)), y_high_ = std::max(y_high_, scaled(point.y));
                    any_ = true;
                }
            }
        }
        if (!any_) {
            x_low_ = y_low_ = 0.0;
            x_high_ = y_high_ = 1.0;
        }
        if (options.x_range) {
            x_low_ = place(options.x_range->first), x_high_ = place(options.x_range->second);
        }
        const auto widen = [](double& low, double& high, double share) {
            const double by = high > low ? (high - low) * share : std::max(std::abs(low) * 0.1, 0.5);
            low -= by, high += by;
        };
        widen(y_low_, y_high_, 0.05);
        if (x_high_ <= x_low_) {
            widen(x_low_, x_high_, 0.0);
        }
        find_ticks();
        double label = options.least_label;
        for (const auto& [place, text] : y_ticks_) {
            label = std::max(label, text_width(text) * kSmall);
        }
        left_ = kMargin + label + 0.6;
        right_ = options.width - kMargin - 1.0;
        top_ = kMargin + 1.6 * kTitleSize + 1.2;
        bottom_ = options.height - kMargin - kAxisHeight;
        place_legend();
    }

    Drawing draw() {
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, options_.title});
        axes();
        for (const bool markers : {false, true}) {
            for (std::size_t i = 0; i < series_.size(); ++i) {
                if (series_[i].markers == markers) {
                    markers ? points(i) : curve(i);
                }
            }
        }
        legend();
        if (!any_) {
            sketch_.centred({Role::Note}, ink_.faint, {left_, top_, right_ - left_, bottom_ - top_}, 1.0,
                            "nothing measured yet");
        }
        return sketch_.finish(options_.width, bottom_ + kMargin + kAxisHeight, options_.title,
                              fmt::format("{} over {}.", counted(series_.size(), "curve"), options_.x_label));
    }

private:
    bool usable(const Point& point) const {
        return std::isfinite(point.x) && std::isfinite(point.y) && (!options_.logarithmic || point.y > 0.0) &&
               (!options_.logarithmic_x || point.x > 0.0);
    }
    double place(double x) const { return options_.logarithmic_x ? std::log10(x) : x; }
    double scaled(double y) const { return options_.logarithmic ? std::log10(y) : y; }
    double x(double value) const { return left_ + (place(value) - x_low_) / (x_high_ - x_low_) * (right_ - left_); }
    double y(double value) const { return bottom_ - (value - y_low_) / (y_high_ - y_low_) * (bottom_ - top_); }
    Colour colour(std::size_t series) const {
        return head_colour(options_.palette, static_cast<int>(series) + 1, ink_);
    }

    void find_ticks() {
        if (!options_.logarithmic) {
            for (const double value : nice_ticks(y_low_, y_high_, 5)) {
                y_ticks_.emplace_back(value, tick_text(value, std::abs(y_high_)));
            }
            return;
        }
        for (const double value : logarithmic_ticks(y_low_, y_high_)) {
            y_ticks_.emplace_back(std::log10(value), fmt::format("{:g}", value));
        }
    }

    // 1, 2 and 5 times powers of ten, or the powers alone where these are many; the range is of logarithms.
    static std::vector<double> logarithmic_ticks(double low, double high) {
        std::vector<double> ticks;
        for (int power = static_cast<int>(std::floor(low)); power <= static_cast<int>(std::ceil(high)); ++power) {
            for (const int digit : {1, 2, 5}) {
                const double value = digit * std::pow(10.0, power);
                constexpr double kManyDecades = 4.0;
                if (std::log10(value) >= low && std::log10(value) <= high &&
                    (digit == 1 || high - low <= kManyDecades)) {
                    ticks.push_back(value);
                }
            }
        }
        return ticks;
    }

    void axes() {
        for (const auto& [value, text] : y_ticks_) {
            sketch_.line({Role::Grid}, ink_.rule, {left_, y(value), right_, y(value), 0.06});
            sketch_.text({Role::Axis}, ink_.faint,
                         {left_ - 0.5, y(value) + kBaseline * kSmall, kSmall, Anchor::End, false, false, text});
        }
        const int wanted = std::max(2, static_cast<int>((right_ - left_) / 8.0));
        const std::vector<double> ticks =
            options_.logarithmic_x ? logarithmic_ticks(x_low_, x_high_) : nice_ticks(x_low_, x_high_, wanted);
        for (const double value : ticks) {
            sketch_.line({Role::Axis}, ink_.off, {x(value), bottom_, x(value), bottom_ + 0.4, 0.08});
            sketch_.text({Role::Axis}, ink_.faint,
                         {x(value), bottom_ + 0.6 + kSmall, kSmall, Anchor::Middle, false, false,
                          options_.logarithmic_x ? fmt::format("{:g}", value)
                          : value == 0.0         ? "0"
                                                 : tick_text(value, std::abs(x_high_))});
        }
        sketch_.line({Role::Axis}, ink_.off, {left_, bottom_, right_, bottom_, 0.08});
        sketch_.text({Role::Axis}, ink_.faint,
                     {(left_ + right_) / 2.0, bottom_ + 2.8, kSmall, Anchor::Middle, false, false, options_.x_label});
        if (!options_.y_label.empty()) {
            sketch_.text({Role::Axis}, ink_.faint,
                         {left_, top_ - 0.5, kSmall, Anchor::Start, false, false, options_.y_label});
        }
    }

    void curve(std::size_t index) {
        Mark mark{Role::Curve, static_cast<int>(index) + 1};
        if (sketch_.tips()) {
            mark.tip = series_[index].name;
        }
        const std::vector<Point> path = thinned(series_[index].points);
        for (std::size_t i = 0; i < path.size(); ++i) {
            const bool joined = (i > 0 && usable(path[i - 1])) || (i + 1 < path.size() && usable(path[i + 1]));
            if (usable(path[i]) && !joined) {  // isolated point
                diamond(mark, colour(index), x(path[i].x), y(scaled(path[i].y)));
            }
        }
        for (std::size_t i = 0; i + 1 < path.size(); ++i) {
            if (!usable(path[i]) || !usable(path[i + 1])) {
                continue;
            }
            const Point a{x(path[i].x), y(scaled(path[i].y))};
            const Point b{x(path[i + 1].x), y(scaled(path[i + 1].y))};
            const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
            // Segments overlap slightly to avoid notches where they meet.
            const double over = kStroke / 2.0 / length;
            sketch_.line(mark, colour(index),
                         {a.x - (b.x - a.x) * over, a.y - (b.y - a.y) * over, b.x + (b.x - a.x) * over,
                          b.y + (b.y - a.y) * over, kStroke});
        }
    }

    // Keeps the first, the smallest and the largest point of each column, in order.
    std::vector<Point> thinned(const std::vector<Point>& points) const {
        const auto most = static_cast<std::size_t>((right_ - left_) / kThinningColumn);
        if (points.size() <= 3 * most) {
            return points;
        }
        std::vector<Point> kept;
        for (std::size_t from = 0; from < points.size();) {
            std::size_t to = from;
            std::size_t least = from;
            std::size_t greatest = from;
            const double column = std::floor(x(points[from].x) / kThinningColumn);
            for (; to < points.size() && std::floor(x(points[to].x) / kThinningColumn) == column; ++to) {
                least = points[to].y < points[least].y ? to : least;
                greatest = points[to].y > points[greatest].y ? to : greatest;
            }
            std::vector<std::size_t> chosen{from, least, greatest};
            std::sort(chosen.begin(), chosen.end());
            chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
            for (const std::size_t at : chosen) {
                kept.push_back(points[at]);
            }
            from = std::max(to, from + 1);
        }
        return kept;
    }

    void points(std::size_t index) {
        for (std::size_t i = 0; i < series_[index].points.size(); ++i) {
            const Point& point = series_[index].points[i];
            if (!usable(point)) {
                continue;
            }
            Mark mark{Role::Point, static_cast<int>(index) + 1};
            mark.item = static_cast<int>(i);
            if (sketch_.tips()) {
                mark.tip = fmt::format("{}: {} {:g}, {:.4g}", series_[index].name, options_.x_label, point.x, point.y);
            }
            const double cx = x(point.x);
            const double cy = y(scaled(point.y));
            if (static_cast<int>(i) == options_.chosen) {
                sketch_.rect(mark, ink_.text,
                             {cx - 2.0 * kPoint, cy - 2.0 * kPoint, 4.0 * kPoint, 4.0 * kPoint, 2.0 * kPoint, kStroke});
            }
            diamond(std::move(mark), colour(index), cx, cy);
        }
    }

    void diamond(Mark mark, Colour ink, double cx, double cy) {
        sketch_.polygon(
            std::move(mark), ink,
            {{cx, cy - kPoint * 1.3}, {cx + kPoint * 1.3, cy}, {cx, cy + kPoint * 1.3}, {cx - kPoint * 1.3, cy}});
    }

    // Right of the title if all names fit, else in rows below it.
    void place_legend() {
        const double beside = right_ - kMargin - text_width(options_.title) * kTitleSize - 2.0;
        double all = 0.0;
        for (const Series& one : series_) {
            names_.push_back({0.0, 0.0, shortened(one.name, (right_ - left_ - kSymbol) / kSmall)});
            all += width_of(names_.back());
        }
        const bool below = all > beside;
        double x = below ? left_ : right_ - all + kLegendGap;
        double y = kMargin + 0.8 * kTitleSize + (below ? 2.0 : 0.0);
        for (Name& name : names_) {
            if (below && x > left_ && x + width_of(name) - kLegendGap > right_) {
                x = left_, y += kLegendRow, top_ += kLegendRow, bottom_ += kLegendRow;
            }
            name.x = x, name.y = y;
            x += width_of(name);
        }
        top_ += below ? kLegendRow : 0.0;  // further rows make the picture taller
    }

    void legend() {
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const Name& name = names_[i];
            const int series = static_cast<int>(i) + 1;
            if (name.text.empty()) {
                continue;
            }
            if (series_[i].markers) {
                diamond({Role::Legend, series}, colour(i), name.x + 1.2, name.y - 0.3);
            } else {
                sketch_.rect({Role::Legend, series}, colour(i), {name.x, name.y - 0.4, 1.7, 0.2});
            }
            sketch_.text({Role::Legend, series}, ink_.text,
                         {name.x + kSymbol, name.y, kSmall, Anchor::Start, false, false, name.text});
        }
    }

    struct Name {
        double x, y;  // of the symbol, and of the baseline
        std::string text;
    };
    static double width_of(const Name& name) {
        return name.text.empty() ? 0.0 : kSymbol + text_width(name.text) * kSmall + kLegendGap;
    }

    const std::vector<Series>& series_;
    const CurveOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    std::vector<std::pair<double, std::string>> y_ticks_;
    std::vector<Name> names_;  // the legend's
    bool any_ = false;
    double x_low_ = 1e300, x_high_ = -1e300, y_low_ = 1e300, y_high_ = -1e300;
    double left_ = 0.0, right_ = 0.0, top_ = 0.0, bottom_ = 0.0;
};

}  // namespace

std::vector<double> nice_ticks(double low, double high, int wanted) {
    if (!(high > low) || wanted < 1) {
        return {};
    }
    const double rough = (high - low) / wanted;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    const double share = rough / power;
    const double step = (share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0) * power;
    std::vector<double> ticks;
    for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1.0) {
        ticks.push_back(i == 0.0 ? 0.0 : i * step);
    }
    return ticks;
}

Drawing draw_curves(const std::vector<Series>& series, const CurveOptions& options) {
    return Curves(series, options).draw();
}

}  // namespace headscope

#include "figures/dot_rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "figures/curve.h"
#include "paint/text_width.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope {

namespace {

constexpr double kMargin = 1.0;
constexpr double kSmall = 0.85;
constexpr double kBold = 1.12;  // times as wide
constexpr double kPitch = 1.6;  // of rows
constexpr double kGroupGap = 0.7;
constexpr double kPanelGap = 2.4;
constexpr double kDot = 0.42;   // radius
constexpr double kBar = 0.14;   // width of an error bar
constexpr double kCap = 0.3;    // half height of its ends
constexpr double kTick = 0.55;  // half height of a reference
constexpr int kTicks = 4;
constexpr int kMeanColour = 1, kReferenceColour = 2;

struct Range {
    double low = 1e300, high = -1e300;

    void take(double value) { low = std::min(low, value), high = std::max(high, value); }
};

class DotRows {
public:
    DotRows(const std::vector<DotRow>& rows, const std::vector<DotPanel>& panels, const DotRowsOptions& options)
        : rows_(rows), panels_(panels), options_(options), sketch_(options.look), ink_(options.look.ink) {
        for (const DotRow& row : rows) {
            HEADSCOPE_CHECK(row.values.size() == panels.size(), "a row has a value for every panel");
            name_ = std::max(name_, text_width(row.name) * kBold);
            detail_ = std::max(detail_, text_width(row.detail) * kSmall);
        }
        left_ = kMargin + name_ + 0.8 + detail_ + 1.4;
        top_ = kMargin + 1.6 * kTitleSize + 4.4;
        bottom_ = top_;
        for (const DotRow& row : rows) {
            bottom_ += (row.gap ? kGroupGap : 0.0) + kPitch;
        }
    }

    Drawing draw() {
        const double width = left_ + static_cast<double>(panels_.size()) * (options_.panel_width + kPanelGap);
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, options_.title});
        const double line = kMargin + 1.6 * kTitleSize + 0.4;
        sketch_.text({Role::Note}, ink_.faint, {kMargin, line, kSmall, Anchor::Start, false, false, options_.note});
        legend(line + 1.5);
        labels();
        for (std::size_t panel = 0; panel < panels_.size(); ++panel) {
            draw_panel(panel, left_ + static_cast<double>(panel) * (options_.panel_width + kPanelGap));
        }
        return sketch_.finish(
            width, bottom_ + 2.0 + kMargin, options_.title,
            fmt::format("{} by {}.", counted(panels_.size(), "measure"), counted(rows_.size(), "row")));
    }

private:
    Colour colour(int number) const { return head_colour(Palette::OkabeIto, number, ink_); }

    // Calls visit(row, middle) from top to bottom.
    template <class Visit>
    void each_row(const Visit& visit) const {
        double y = top_;
        for (const DotRow& row : rows_) {
            y += row.gap ? kGroupGap : 0.0;
            visit(row, y + kPitch / 2.0);
            y += kPitch;
        }
    }

    void labels() {
        each_row([&](const DotRow& row, double y) {
            sketch_.text({Role::Label}, ink_.text, {kMargin, y + kBaseline, 1.0, Anchor::Start, false, true, row.name});
            sketch_.text(
                {Role::Label}, ink_.faint,
                {kMargin + name_ + 0.8, y + kBaseline * kSmall, kSmall, Anchor::Start, false, false, row.detail});
        });
    }

    void legend(double y) {
        double x = kMargin;
        const auto entry = [&](const std::string& name, const auto& symbol) {
            if (!name.empty()) {
                symbol(x + 0.6, y - 0.3);
                sketch_.text({Role::Legend}, ink_.text, {x + 1.6, y, kSmall, Anchor::Start, false, false, name});
                x += 1.6 + text_width(name) * kSmall + 1.6;
            }
        };
        entry(options_.mean, [&](double cx, double cy) { dot({Role::Legend}, cx, cy); });
        entry(options_.reference, [&](double cx, double cy) { reference({Role::Legend}, cx, cy); });
    }

    void dot(Mark mark, double x, double y) {
        sketch_.rect(std::move(mark), colour(kMeanColour), {x - kDot, y - kDot, 2.0 * kDot, 2.0 * kDot, kDot});
    }

    void reference(Mark mark, double x, double y) {
        sketch_.line(std::move(mark), colour(kReferenceColour), {x, y - kTick, x, y + kTick, 0.22});
    }

    Range range_of(std::size_t panel) const {
        Range range;
        for (const DotRow& row : rows_) {
            const DotValue& value = row.values[panel];
            if (value.mean) {
                range.take(*value.mean - value.deviation);
                range.take(*value.mean + value.deviation);
            }
            if (value.reference) {
                range.take(*value.reference);
            }
        }
        if (range.low > range.high) {
            range = {0.0, 1.0};
        }
        const double by = std::max((range.high - range.low) * 0.06, std::abs(range.high) * 0.01);
        return {range.low - by, range.high + by};
    }

    void draw_panel(std::size_t panel, double left) {
        const Range range = range_of(panel);
        const auto x = [&](double value) {
            return left + (value - range.low) / (range.high - range.low) * options_.panel_width;
        };
        sketch_.text({Role::Label}, ink_.text,
                     {left, top_ - 0.9, 1.0, Anchor::Start, false, true, panels_[panel].title});
        for (const double value : nice_ticks(range.low, range.high, kTicks)) {
            sketch_.line({Role::Grid}, ink_.rule, {x(value), top_, x(value), bottom_, 0.06});
            sketch_.text({Role::Axis}, ink_.faint,
                         {x(value), bottom_ + 1.3, kSmall, Anchor::Middle, false, false, fmt::format("{:g}", value)});
        }
        if (const std::optional<double> guide = panels_[panel].guide) {
            sketch_.line({Role::Axis}, ink_.off, {x(*guide), top_, x(*guide), bottom_, 0.1});
        }
        each_row([&](const DotRow& row, double y) {
            const DotValue& value = row.values[panel];
            if (value.reference) {
                reference({Role::Value}, x(*value.reference), y);
            }
            if (value.mean) {
                draw_mean(row, value, x(*value.mean - value.deviation), x(*value.mean),
                          x(*value.mean + value.deviation), y);
            }
        });
    }

    void draw_mean(const DotRow& row, const DotValue& value, double low, double mean, double high, double y) {
        Mark mark{Role::Point};
        if (sketch_.tips()) {
            mark.tip = value.deviation > 0.0
                           ? fmt::format("{}: {:.4g} ± {:.2g}", row.name, *value.mean, value.deviation)
                           : fmt::format("{}: {:.4g}", row.name, *value.mean);
        }
        if (value.deviation > 0.0) {
            sketch_.line(mark, colour(kMeanColour), {low, y, high, y, kBar});
            for (const double end : {low, high}) {
                sketch_.line(mark, colour(kMeanColour), {end, y - kCap, end, y + kCap, kBar});
            }
        }
        dot(mark, mean, y);
    }

    const std::vector<DotRow>& rows_;
    const std::vector<DotPanel>& panels_;
    const DotRowsOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    double name_ = 0.0, detail_ = 0.0;  // widths of the labels
    double left_ = 0.0, top_ = 0.0, bottom_ = 0.0;
};

}  // namespace

Drawing draw_dot_rows(const std::vector<DotRow>& rows, const std::vector<DotPanel>& panels,
                      const DotRowsOptions& options) {
    return DotRows(rows, panels, options).draw();
}

}  // namespace headscope

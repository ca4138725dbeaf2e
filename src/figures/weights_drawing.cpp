#include "figures/weights_drawing.h"

#include <algorithm>

#include <fmt/format.h>

#include "figures/layout.h"
#include "paint/text_width.h"

namespace headscope {

namespace {

// Lengths in units of the text size.
constexpr double kWeightRow = 3.0;
constexpr double kWeightColumn = 5.5;
constexpr double kShapeColumn = 7.0;
constexpr double kHistogram = 12.0;
constexpr double kHistogramHeight = 2.2;  // height of a histogram
constexpr const char* kColumns[] = {"mean", "deviation", "least", "greatest"};

std::string shape_of(const Shape& shape) {
    std::string text;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        text += fmt::format("{}{}", axis == 0 ? "" : " \u00D7 ", shape[axis]);
    }
    return text;
}

class Table {
public:
    Table(const std::string& prefix, const std::vector<WeightStatistics>& weights, const Look& look)
        : prefix_(prefix), weights_(weights), sketch_(look) {
        for (const WeightStatistics& weight : weights) {
            names_ = std::max(names_, text_width(rest_of(weight.name)) + 1.0);
        }
    }

    Drawing draw() {
        const std::string title = "Weights of " + prefix_.substr(0, prefix_.find_last_not_of('.') + 1);
        const Ink& ink = sketch_.ink();
        sketch_.text({Role::Title}, ink.text, {kMargin, 2.0, kTitleSize, Anchor::Start, false, false, title});
        double x = kMargin + names_ + kShapeColumn;
        for (const char* column : kColumns) {
            x += kWeightColumn;
            sketch_.text({Role::Axis}, ink.faint, {x, 4.2, kSmall, Anchor::End, false, false, column});
        }
        double y = 4.8;
        for (std::size_t row = 0; row < weights_.size(); ++row, y += kWeightRow) {
            draw_row(row, y);
        }
        const double width = kMargin + names_ + kShapeColumn + 4.0 * kWeightColumn + 1.5 + kHistogram + kMargin;
        return sketch_.finish(width, y + kMargin, title,
                              fmt::format("{}: {} parameters, each with its statistics.", title, weights_.size()));
    }

private:
    std::string rest_of(const std::string& name) const {
        return name.starts_with(prefix_) ? name.substr(prefix_.size()) : name;
    }

    void draw_row(std::size_t row, double top) {
        const WeightStatistics& weight = weights_[row];
        const Ink& ink = sketch_.ink();
        Mark mark{Role::Label};
        mark.item = static_cast<int>(row);
        const double base = top + 0.5 * kWeightRow + kBaseline;
        sketch_.text(mark, ink.text, {kMargin, base, 1.0, Anchor::Start, false, false, rest_of(weight.name)});
        mark.role = Role::Value;
        sketch_.text(mark, ink.faint,
                     {kMargin + names_, base, kSmall, Anchor::Start, false, false, shape_of(weight.shape)});
        double x = kMargin + names_ + kShapeColumn;
        for (const double value : {weight.mean, weight.deviation, weight.least, weight.greatest}) {
            x += kWeightColumn;
            sketch_.text(mark, ink.text, {x, base, 1.0, Anchor::End, false, false, fmt::format("{:.3g}", value)});
        }
        histogram(weight, mark, x + 1.5, top);
        if (weight.not_finite > 0) {
            sketch_.text(mark, ink.warning,
                         {x + 1.5, top + kWeightRow, kSmall, Anchor::Start, false, false,
                          fmt::format("{} are not finite", weight.not_finite)});
        }
    }

    void histogram(const WeightStatistics& weight, Mark mark, double x, double top) {
        const Ink& ink = sketch_.ink();
        const double bottom = top + 0.5 * (kWeightRow + kHistogramHeight);
        const double width = kHistogram / static_cast<double>(WeightStatistics::kBins);
        const auto most = static_cast<double>(
            std::max<std::int64_t>(*std::max_element(weight.counts.begin(), weight.counts.end()), 1));
        mark.role = Role::Bar;
        for (std::size_t bin = 0; bin < weight.counts.size(); ++bin) {
            const double height = kHistogramHeight * static_cast<double>(weight.counts[bin]) / most;
            const double step = 2.0 * weight.limit / static_cast<double>(WeightStatistics::kBins);
            const double from = -weight.limit + step * static_cast<double>(bin);
            if (weight.counts[bin] > 0) {
                mark.tip = fmt::format("{} of {}: {:.3g} to {:.3g}", weight.counts[bin], weight.shape.elements(), from,
                                       from + step);
                sketch_.rect(mark, ink.accent, {x + width * static_cast<double>(bin), bottom - height, width, height});
            }
        }
        mark.tip.clear();
        mark.role = Role::Grid;
        sketch_.line(mark, ink.rule, {x, bottom, x + kHistogram, bottom, 0.08});
    }

    const std::string& prefix_;
    const std::vector<WeightStatistics>& weights_;
    Sketch sketch_;
    double names_ = 8.0;
};

}  // namespace

Drawing draw_weights(const std::string& prefix, const std::vector<WeightStatistics>& weights, const Look& look) {
    return Table(prefix, weights, look).draw();
}

}  // namespace headscope

#include "figures/reliability_diagram.h"

#include <algorithm>

#include <fmt/format.h>

#include "figures/curve.h"
#include "figures/layout.h"
#include "paint/text_width.h"

namespace headscope {

namespace {

constexpr double kSide = 30.0;          // of the square of probabilities
constexpr double kCounts = 7.0;         // height of the shares of pieces below it
constexpr double kDiagramsApart = 1.2;  // between the two
constexpr double kDiagramLegend = 2.6;
constexpr double kDiagramSymbol = 2.0;
constexpr double kHalfMark = 0.11;  // half the height of a bar's end
constexpr double kGapAlpha = 0.35;

double share_of(std::int64_t part, std::int64_t all) {
    return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
}

class Reliability {
public:
    Reliability(const ForcedStatistics& statistics, std::string title, const Look& look)
        : statistics_(statistics), title_(std::move(title)), sketch_(look), ink_(look.ink) {
        for (const CalibrationBin& bin : statistics.bins()) {
            most_ = std::max(most_, share_of(bin.tokens, statistics.tokens()));
        }
        left_ = kMargin + 1.6 + text_width("100 %") * kSmall + 0.6;
        top_ = kMargin + 1.6 * kTitleSize + 1.4 + kDiagramLegend;
    }

    Drawing draw() {
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title_});
        const std::string note =
            fmt::format("Calibration error {:.2f} % over {} pieces: {:.1f} % right at a mean probability of {:.1f} %",
                        100.0 * statistics_.expected_calibration_error(), fmt::group_digits(statistics_.tokens()),
                        100.0 * statistics_.accuracy(), 100.0 * statistics_.confidence());
        sketch_.text({Role::Note}, ink_.faint,
                     {kMargin, kMargin + 1.6 * kTitleSize, kSmall, Anchor::Start, false, false, note});
        legend();
        axes();
        for (std::size_t i = 0; i < kCalibrationBins; ++i) {
            bar(i);
        }
        // Above the bars, so that it shows which of them end below or above it.
        sketch_.line({Role::Grid}, ink_.off, {x(0.0), y(0.0), x(1.0), y(1.0), 0.1});
        const double right =
            std::max({x(1.0) + 1.2, kMargin + text_width(note) * kSmall, kMargin + text_width(title_) * kTitleSize});
        return sketch_.finish(right + kMargin, counts_bottom() + 3.1 + kMargin, title_, note + ".");
    }

private:
    double x(double probability) const { return left_ + probability * kSide; }
    double y(double share) const { return top_ + (1.0 - share) * kSide; }
    double counts_bottom() const { return top_ + kSide + kDiagramsApart + kCounts; }
    double count_y(double share) const { return counts_bottom() - (most_ > 0.0 ? share / most_ : 0.0) * kCounts; }

    void legend() {
        const double middle = top_ - 0.6 * kDiagramLegend;
        double at = left_;
        const auto name = [&](const char* text) {
            at += kDiagramSymbol + 0.5;
            sketch_.text({Role::Legend}, ink_.text,
                         {at, middle + kBaseline * kSmall, kSmall, Anchor::Start, false, false, text});
            at += text_width(text) * kSmall + 1.4;
        };
        sketch_.rect({Role::Legend}, ink_.accent, {at, middle - 0.5, kDiagramSymbol, 1.0, 0.1});
        name("right");
        sketch_.rect({Role::Legend}, ink_.warning, {at, middle - 0.5, kDiagramSymbol, 1.0, 0.1}, kGapAlpha);
        name("gap to the mean probability");
        sketch_.line({Role::Legend}, ink_.off, {at, middle, at + kDiagramSymbol, middle, 0.1});
        name("no gap");
    }

    void axes() {
        for (const double share : {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}) {
            const std::string text = fmt::format("{:.0f} %", 100.0 * share);
            sketch_.line({Role::Grid}, ink_.rule, {x(0.0), y(share), x(1.0), y(share), 0.06});
            number(y(share), text);
            sketch_.line({Role::Axis}, ink_.off, {x(share), counts_bottom(), x(share), counts_bottom() + 0.4, 0.08});
            sketch_.text({Role::Axis}, ink_.faint,
                         {x(share), counts_bottom() + 0.6 + kSmall, kSmall, Anchor::Middle, false, false, text});
        }
        sketch_.line({Role::Axis}, ink_.off, {x(0.0), y(0.0), x(1.0), y(0.0), 0.08});
        for (const double share : nice_ticks(0.0, most_, 3)) {
            sketch_.line({Role::Grid}, ink_.rule, {x(0.0), count_y(share), x(1.0), count_y(share), 0.06});
            if (share > 0.0) {
                number(count_y(share), fmt::format("{:g} %", 100.0 * share));
            }
        }
        sketch_.line({Role::Axis}, ink_.off, {x(0.0), counts_bottom(), x(1.0), counts_bottom(), 0.08});
        sketch_.text({Role::Axis}, ink_.faint,
                     {x(0.5), counts_bottom() + 2.9, kSmall, Anchor::Middle, false, false,
                      "probability of the likeliest piece"});
        upwards(y(0.5), "is right");
        upwards(counts_bottom() - 0.5 * kCounts, "pieces");
    }

    void number(double middle, const std::string& text) {
        sketch_.text({Role::Axis}, ink_.faint,
                     {left_ - 0.5, middle + kBaseline * kSmall, kSmall, Anchor::End, false, false, text});
    }

    void upwards(double middle, const char* text) {
        sketch_.text({Role::Axis}, ink_.faint, {kMargin + kSmall, middle, kSmall, Anchor::Middle, true, false, text});
    }

    void bar(std::size_t index) {
        const CalibrationBin& bin = statistics_.bins()[index];
        if (bin.tokens == 0) {
            return;
        }
        constexpr double kPitch = kSide / static_cast<double>(kCalibrationBins);
        const double from = left_ + kPitch * static_cast<double>(index) + 0.1;
        const double width = kPitch - 0.2;
        const double right = bin.accuracy();
        const double mean = bin.confidence();
        Mark mark{Role::Bar};
        mark.item = static_cast<int>(index);
        if (sketch_.tips()) {
            mark.tip = fmt::format("{} pieces: {:.1f} % right, mean probability {:.1f} %",
                                   fmt::group_digits(bin.tokens), 100.0 * right, 100.0 * mean);
        }
        sketch_.rect(mark, ink_.accent, {from, y(right) - kHalfMark, width, y(0.0) - y(right) + kHalfMark});
        sketch_.rect(mark, ink_.warning,
                     {from, y(std::max(right, mean)), width, y(std::min(right, mean)) - y(std::max(right, mean))},
                     kGapAlpha);
        sketch_.rect(mark, ink_.warning, {from, y(mean) - kHalfMark, width, 2.0 * kHalfMark});
        const double share = share_of(bin.tokens, statistics_.tokens());
        sketch_.rect(mark, ink_.faint, {from, count_y(share), width, counts_bottom() - count_y(share)});
    }

    const ForcedStatistics& statistics_;
    std::string title_;
    Sketch sketch_;
    const Ink& ink_;
    double most_ = 0.0;  // the largest share of all pieces in a bin
    double left_ = 0.0, top_ = 0.0;
};

}  // namespace

Drawing draw_reliability(const ForcedStatistics& statistics, const std::string& name, const Look& look) {
    return Reliability(statistics, name.empty() ? "Calibration" : "Calibration of " + name, look).draw();
}

}  // namespace headscope

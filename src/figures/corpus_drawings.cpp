#include "figures/corpus_drawings.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "figures/curve.h"
#include "figures/importance_drawing.h"
#include "figures/layout.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "paint/compose.h"
#include "paint/text_width.h"

namespace headscope {

namespace {

constexpr double kFindingPitch = 1.9;
constexpr double kScaleWidth = 32.0;  // width of the scale from 0 to 1
constexpr double kScorePoint = 0.36;

// Rows of points with intervals on a scale from 0 to 1.
class Findings {
public:
    Findings(const std::vector<CorpusFinding>& findings, const Look& look)
        : findings_(findings), sketch_(look), ink_(look.ink) {
        for (const CorpusFinding& finding : findings) {
            left_ = std::max(left_, text_width(head_name(finding)));
            right_ = std::max(right_, kMargin + kBold * text_width(heading_of(finding)));
            for (const BaselineResult& baseline : finding.baselines) {
                left_ = std::max(left_, text_width(baseline.name));
            }
        }
        left_ += kMargin + 1.0;
        right_ = std::max(right_, left_ + kScaleWidth + 3.5);
    }

    Drawing draw() {
        const std::string title = "What the best head of each rule looks at";
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title});
        double y = kMargin + 1.6 * kTitleSize;
        for (std::size_t i = 0; i < findings_.size(); ++i) {
            y = finding(findings_[i], static_cast<int>(i), y);
        }
        const std::string note =
            "Share of the questions answered, with 95 % intervals; a baseline's is that of its distance to the head.";
        const std::vector<std::string> lines = wrapped(note, (right_ - kMargin) / kSmall);
        sketch_.lines_of_text({Role::Note}, ink_.faint, kMargin, y + 1.2, kSmall, lines);
        return sketch_.finish(right_ + kMargin, y + 0.6 + lines_height(lines, kSmall) + kMargin, title, note);
    }

private:
    static std::string head_name(const CorpusFinding& finding) {
        return fmt::format("layer {}, head {}", finding.site.layer + 1, finding.head);
    }

    static std::string heading_of(const CorpusFinding& finding) {
        return fmt::format("{}: {}, {} questions", name_of(finding.query), meaning_of(finding.query.rule),
                           finding.questions);
    }

    double finding(const CorpusFinding& finding, int item, double y) {
        sketch_.text({Role::Label}, ink_.text,
                     {kMargin, y + 1.2, 1.0, Anchor::Start, false, true, heading_of(finding)});
        const double top = y + 1.9;
        const auto rows = static_cast<double>(finding.baselines.size() + 1);
        for (int tenth = 0; tenth <= 10; tenth += 2) {
            const double x = left_ + kScaleWidth * tenth / 10.0;
            sketch_.line({Role::Grid}, ink_.rule, {x, top, x, top + rows * kFindingPitch, 0.08});
            sketch_.text({Role::Axis}, ink_.faint,
                         {x, top + rows * kFindingPitch + 1.1, kSmall, Anchor::Middle, false, false,
                          fmt::format("{:.1f}", tenth / 10.0)});
        }
        row(item, head_name(finding), finding.measured.rate, finding.measured.interval, true, top);
        for (std::size_t i = 0; i < finding.baselines.size(); ++i) {
            const BaselineResult& baseline = finding.baselines[i];
            const double rate = finding.measured.rate;
            row(item, baseline.name, baseline.rate, {rate - baseline.interval.high, rate - baseline.interval.low},
                false, top + (static_cast<double>(i) + 1.0) * kFindingPitch);
        }
        return top + rows * kFindingPitch + 2.0;
    }

    void row(int item, const std::string& name, double rate, Interval interval, bool head, double top) {
        const double middle = top + 0.5 * kFindingPitch;
        const Colour colour = head ? ink_.accent : ink_.faint;
        const auto at = [&](double share) { return left_ + kScaleWidth * std::clamp(share, 0.0, 1.0); };
        Mark mark{Role::Label};
        mark.item = item;
        sketch_.text(mark, ink_.text, {left_ - 0.8, middle + kBaseline, 1.0, Anchor::End, false, head, name});
        mark.role = Role::Bar;
        sketch_.rect(mark, colour,
                     {at(interval.low), middle - 0.09, std::max(at(interval.high) - at(interval.low), 0.05), 0.18});
        mark.role = Role::Point;
        sketch_.polygon(mark, colour,
                        {{at(rate) - kScorePoint, middle},
                         {at(rate), middle - kScorePoint},
                         {at(rate) + kScorePoint, middle},
                         {at(rate), middle + kScorePoint}});
        mark.role = Role::Value;
        sketch_.text(mark, ink_.text,
                     {left_ + kScaleWidth + 0.8, middle + kBaseline, 1.0, Anchor::Start, false, head,
                      fmt::format("{:.2f}", rate)});
    }

    const std::vector<CorpusFinding>& findings_;
    Sketch sketch_;
    const Ink& ink_;
    double left_ = 0.0;   // of the scale
    double right_ = 0.0;  // of everything
};

using ScoreValue = double (*)(const CorpusScore&);

// By increasing number of heads.
Series pruning_series(std::string name, const std::vector<std::vector<PruningPoint>>& curves, ScoreValue value) {
    Series series{.name = std::move(name), .points = {}};
    for (std::size_t at = curves.front().size(); at-- > 0;) {
        double sum = 0.0;
        for (const std::vector<PruningPoint>& curve : curves) {
            sum += value(curve[at].score);
        }
        series.points.push_back(
            {static_cast<double>(curves.front()[at].left), sum / static_cast<double>(curves.size())});
    }
    return series;
}

Drawing pruning(const CorpusImportance& importance, const char* title, const char* axis, ScoreValue value,
                const Look& look) {
    std::vector<Series> series{pruning_series("the least important first", {importance.pruned}, value)};
    if (!importance.pruned_at_random.empty()) {
        series.push_back(pruning_series(fmt::format("at random, mean of {}", importance.pruned_at_random.size()),
                                        importance.pruned_at_random, value));
    }
    return draw_curves(series,
                       {.title = title, .x_label = "heads left", .y_label = axis, .least_label = 3.0, .look = look});
}

}  // namespace

Drawing draw_findings(const std::vector<CorpusFinding>& findings, const Look& look) {
    return Findings(findings, look).draw();
}

Drawing draw_corpus_importance(const CorpusImportance& importance, Palette palette, const Look& look) {
    const Importance heads = per_thousand_tokens(importance);
    std::vector<Drawing> parts{
        draw_importance(heads, {.title = fmt::format("What each head is worth over {} {}s", importance.choosing,
                                                     traits(importance.family).predicted_in),
                                .note = "Nats lost per 1,000 tokens without the head",
                                .palette = palette,
                                .look = look})};
    parts.push_back(pruning(
        importance, "Pruning heads", "nats per token", [](const CorpusScore& score) { return score.nll; }, look));
    if (importance.translated > 0) {
        parts.push_back(pruning(
            importance, "Pruning heads, BLEU", "BLEU",
            [](const CorpusScore& score) { return score.bleu.value_or(0.0); }, look));
    }
    return stacked(std::move(parts), 2.0 * look.text_size, look.ink);
}

}  // namespace headscope

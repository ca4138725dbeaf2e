#include "figures/experiment_drawing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "figures/curve.h"
#include "figures/experiment_changes.h"
#include "figures/layout.h"
#include "paint/text_width.h"
#include "support/counted.h"

namespace headscope {

namespace {

constexpr double kTrialRow = 1.7;
constexpr double kColumnGap = 1.4;  // between columns
constexpr double kVaried = 19.0;    // at most
constexpr double kPlotWidth = 11.0;
constexpr double kDot = 0.36;  // radius
constexpr double kRing = 0.14;
constexpr double kBar = 0.12;
constexpr double kCap = 0.45;
constexpr int kTicks = 4;

using Row = ExperimentRow;

struct Column {
    std::string head;
    std::vector<std::string> cells = {};
    Anchor anchor = Anchor::End;
    double left = 0.0;
    double width = 0.0;

    double x() const { return anchor == Anchor::Start ? left : left + width; }
};

struct Plot {
    const ExperimentMetric& metric;
    ExperimentChanges changes;
    double left = 0.0;

    // With some room at both ends.
    double x(double value) const {
        const double room = std::max((changes.high - changes.low) * 0.06, 0.01);
        return left + (value - changes.low + room) / (changes.high - changes.low + 2.0 * room) * kPlotWidth;
    }
};

std::string trained_text(const Row& row) {
    const std::string begun = row.unfinished.empty()       ? ""
                              : row.seeds.empty()          ? "begun"
                              : row.unfinished.size() == 1 ? " + 1 begun"
                                                           : fmt::format(" + {} begun", row.unfinished.size());
    return !row.impossible.empty()              ? "impossible"
           : row.seeds.empty() && begun.empty() ? (row.problems.empty() ? "" : "failed")
           : row.seeds.empty()                  ? begun
                                                : std::to_string(row.seeds.size()) + begun;
}

std::string tip_of(const Row& row) {
    const std::string done =
        row.ours ? fmt::format("; {} of {:.1f} minutes", counted(row.seeds.size(), "training"), row.ours->minutes) : "";
    const std::string begun = row.unfinished.empty() ? "" : fmt::format("; {} begun", row.unfinished.size());
    return row.name + ": " + (row.varied.empty() ? "the base model" : row.varied) + done + begun;
}

class ExperimentDrawing {
public:
    ExperimentDrawing(const ExperimentTable& table, const ExperimentDrawingOptions& options)
        : rows_(table.rows), title_(table.title), options_(options), sketch_(options.look), ink_(sketch_.ink()) {
        column("row", Anchor::Start, [](const Row& row) { return row.name; });
        column("varied", Anchor::Start,
               [](const Row& row) { return row.varied.empty() ? "the base model" : shortened(row.varied, kVaried); });
        for (const ExperimentMetric& metric : kExperimentMetrics) {
            add(metric);
        }
        const std::size_t first = columns_.size();
        column("ours", Anchor::End, [](const Row& row) { return row.ours ? millions(row.ours->parameters) : ""; });
        column("paper", Anchor::End,
               [](const Row& row) { return row.paper.parameters ? millions(*row.paper.parameters) : ""; });
        group("params (M)", first);
        column("seeds", Anchor::End, trained_text);
        width_ = at_ - kColumnGap + kMargin;
    }

    Drawing draw() {
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title_});
        heads();
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            line(i);
        }
        for (const Plot& one : plots_) {
            plot(one);
        }
        const double bottom = notes(legend());
        return sketch_.finish(width_, bottom + kMargin, title_,
                              fmt::format("{} of {}.", counted(finished(), "row"), rows_.size()));
    }

private:
    static std::string millions(double parameters) {
        return fmt::format("{:.{}f}", parameters / 1e6, parameters < 1e7 ? 2 : 0);
    }
    std::ptrdiff_t finished() const {
        return std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.ours.has_value(); });
    }
    // The edges and the baseline of a row.
    static double top_of(std::size_t row) {
        return kMargin + 1.6 * kTitleSize + 2.0 * kTrialRow + kTrialRow * static_cast<double>(row);
    }
    static double baseline(std::size_t row) { return top_of(row) + kTrialRow / 2.0 + kBaseline; }
    double end() const { return top_of(rows_.size()); }

    void column(std::string head, Anchor anchor, const std::function<std::string(const Row&)>& cell) {
        Column column{.head = std::move(head), .anchor = anchor, .left = at_};
        column.width = text_width(column.head);
        for (const Row& row : rows_) {
            column.cells.push_back(cell(row));
            column.width = std::max(column.width, text_width(column.cells.back()));
        }
        at_ += column.width + kColumnGap;
        columns_.push_back(std::move(column));
    }

    // A name over the columns from `first` on.
    void group(const std::string& name, std::size_t first) {
        groups_.push_back({name, (columns_[first].left + at_ - kColumnGap) / 2.0});
    }

    void add(const ExperimentMetric& metric) {
        const std::size_t first = columns_.size();
        column("ours", Anchor::End,
               [&](const Row& row) { return row.ours ? ((*row.ours).*metric.ours).text(metric.digits) : "\u2013"; });
        column("paper", Anchor::End, [&](const Row& row) {
            const std::optional<double> paper = row.paper.*metric.paper;
            return paper ? fmt::format("{:.{}f}", *paper, metric.digits) : "";
        });
        group(metric.name, first);
        plots_.push_back({metric, changes_of(rows_, metric), at_});
        groups_.push_back(
            {fmt::format("{} against base{}", metric.name, metric.relative ? " (%)" : ""), at_ + kPlotWidth / 2.0});
        at_ += kPlotWidth + kColumnGap;
    }

    void heads() {
        const double upper = top_of(0) - kTrialRow - 0.55;
        const double lower = top_of(0) - 0.55;
        for (const auto& [name, centre] : groups_) {
            sketch_.text({Role::Label}, ink_.text, {centre, upper, 1.0, Anchor::Middle, false, true, name});
        }
        for (const Column& column : columns_) {
            sketch_.text({Role::Label}, ink_.faint, {column.x(), lower, 1.0, column.anchor, false, false, column.head});
        }
        for (const Plot& plot : plots_) {
            const bool left = plot.metric.falling;
            sketch_.text({Role::Label}, ink_.faint,
                         {plot.left + (left ? 0.0 : kPlotWidth), lower, kSmall, left ? Anchor::Start : Anchor::End,
                          false, false, left ? "\u2190 better" : "better \u2192"});
        }
    }

    // Rules separate the paper's groups: A1 to A4, B1 and B2, ...
    void line(std::size_t i) {
        const Row& row = rows_[i];
        sketch_.rect({.role = Role::Block, .tip = sketch_.tips() ? tip_of(row) : "", .item = static_cast<int>(i)},
                     static_cast<int>(i) == options_.chosen ? ink_.chosen : ink_.paper,
                     {.x = kMargin / 2.0, .y = top_of(i), .width = width_ - kMargin, .height = kTrialRow});
        if (i == 0 || row.name.front() != rows_[i - 1].name.front()) {
            sketch_.line({Role::Grid}, i == 0 ? ink_.off : ink_.rule,
                         {kMargin / 2.0, top_of(i), width_ - kMargin / 2.0, top_of(i), 0.08});
        }
        for (std::size_t at = 0; at < columns_.size(); ++at) {
            const Column& column = columns_[at];
            const bool paper = column.head == "paper" || column.head == "varied";
            sketch_.text({.role = Role::Value, .item = static_cast<int>(i)}, paper ? ink_.faint : ink_.text,
                         {column.x(), baseline(i), 1.0, column.anchor, false, at == 0, column.cells[i]});
        }
    }

    void plot(const Plot& plot) {
        const ExperimentChanges& changes = plot.changes;
        for (const double tick : nice_ticks(changes.low, changes.high, kTicks)) {
            const bool base = std::abs(tick) < 1e-9;
            sketch_.line({Role::Axis}, base ? ink_.off : ink_.rule,
                         {plot.x(tick), top_of(0), plot.x(tick), end() + 0.3, base ? 0.1 : 0.06});
            sketch_.text({Role::Axis}, ink_.faint,
                         {plot.x(tick), end() + 1.3, kSmall, Anchor::Middle, false, false,
                          base ? "0" : fmt::format("{:+g}", tick)});
        }
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const double y = top_of(i) + kTrialRow / 2.0;
            if (changes.paper[i]) {
                ring(plot.x(changes.paper[i]->at), y);
            }
            if (changes.ours[i]) {
                error_bar(plot, *changes.ours[i], y);
                dot(plot.x(changes.ours[i]->at), y);
            }
        }
    }

    void dot(double x, double y) {
        sketch_.rect({Role::Value}, ink_.accent,
                     {.x = x - kDot, .y = y - kDot, .width = 2.0 * kDot, .height = 2.0 * kDot, .radius = kDot});
    }
    void ring(double x, double y) {
        sketch_.rect(
            {Role::Value}, ink_.warning,
            {.x = x - kDot, .y = y - kDot, .width = 2.0 * kDot, .height = 2.0 * kDot, .radius = kDot, .stroke = kRing});
    }
    void error_bar(const Plot& plot, const ExperimentChange& change, double y) {
        if (change.deviation <= 0.0) {
            return;
        }
        const double from = plot.x(change.at - change.deviation);
        const double to = plot.x(change.at + change.deviation);
        sketch_.line({Role::Value}, ink_.accent, {from, y, to, y, kBar});
        for (const double x : {from, to}) {
            sketch_.line({Role::Value}, ink_.accent, {x, y - kCap, x, y + kCap, kBar});
        }
    }

    // Returns the y of what may follow.
    double legend() {
        const double y = end() + 3.2;
        double x = kMargin + kDot;
        const auto entry = [&](const std::string& text) {
            sketch_.text({Role::Legend}, ink_.text,
                         {x + 2.0 * kDot, y + kBaseline, 1.0, Anchor::Start, false, false, text});
            x += text_width(text) + 3.0;
        };
        dot(x, y);
        entry("ours, \u00B1 one standard deviation over seeds");
        ring(x, y);
        entry("the paper");
        return y + 1.0;
    }

    double notes(double y) {
        std::vector<std::string> texts;
        if (rows_.empty() || !rows_.front().ours) {
            texts.emplace_back("Ours are not in the plots until the base model is trained.");
        }
        for (const Row& row : rows_) {
            if (!row.impossible.empty()) {
                texts.push_back(fmt::format("{}: impossible with this base: {}", row.name, row.impossible));
            }
            for (const std::string& problem : row.problems) {
                texts.push_back(fmt::format("{}: failed: {}", row.name, problem));
            }
        }
        for (const std::string& text : texts) {
            const std::vector<std::string> lines = wrapped(text, (width_ - 2.0 * kMargin) / kSmall);
            sketch_.lines_of_text({Role::Note}, ink_.faint, kMargin, y + 1.0, kSmall, lines);
            y += lines_height(lines, kSmall) + 0.4;
        }
        return y;
    }

    const std::vector<Row>& rows_;
    const std::string& title_;
    const ExperimentDrawingOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    double at_ = kMargin;  // where the next column begins
    double width_ = 0.0;
    std::vector<Column> columns_;
    std::vector<std::pair<std::string, double>> groups_;  // their centres
    std::vector<Plot> plots_;
};

}  // namespace

Drawing draw_experiment(const ExperimentTable& table, const ExperimentDrawingOptions& options) {
    return ExperimentDrawing(table, options).draw();
}

}  // namespace headscope

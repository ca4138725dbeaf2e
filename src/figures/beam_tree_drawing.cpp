#include "figures/beam_tree_drawing.h"

#include <algorithm>

#include <fmt/format.h>

#include "figures/layout.h"
#include "figures/tree_rows.h"
#include "paint/text_width.h"

namespace headscope {

namespace {

using Fate = BeamNode::Fate;

constexpr double kTreeRow = 3.0;
constexpr double kScore = 0.75;
constexpr double kNodeHalf = 0.36;    // half of a node's width
constexpr double kLabelsApart = 1.6;  // between two columns of labels, for the lines
constexpr double kLongest = 12.0;     // width of a label

constexpr std::pair<Fate, const char*> kFates[] = {{Fate::Open, "went on"},
                                                   {Fate::Finished, "ended"},
                                                   {Fate::Fell, "fell out of the beam"},
                                                   {Fate::Stopped, "alive when the search stopped"},
                                                   {Fate::Cut, "cut at the longest output"}};

class BeamTreeDrawing {
public:
    BeamTreeDrawing(const std::vector<BeamNode>& nodes, const BeamTreeOptions& options)
        : nodes_(nodes),
          options_(options),
          sketch_(options.look),
          ink_(options.look.ink),
          tree_(tree_rows(nodes, options.collapse)) {
        int steps = 0;
        for (const BeamNode& node : nodes) {
            steps = std::max(steps, node.step);
        }
        std::vector<double> widths(static_cast<std::size_t>(steps) + 1, 0.0);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (tree_.row[i] >= 0) {
                double& width = widths[static_cast<std::size_t>(nodes[i].step)];
                width = std::max({width, 1.1 * text_width(label(i)), kScore * text_width(score(i))});
            }
        }
        double x = kMargin;
        for (const double width : widths) {
            columns_.push_back(x + width / 2.0);
            turns_.push_back(x + width + kLabelsApart / 2.0);
            x += width + kLabelsApart;
        }
        right_ = x - kLabelsApart;
    }

    Drawing draw() {
        for (const bool best : {false, true}) {
            for (std::size_t i = 1; i < nodes_.size(); ++i) {
                if (nodes_[i].best == best && tree_.row[i] >= 0) {
                    edge(i);
                }
            }
        }
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (tree_.row[i] >= 0) {
                node(i);
            }
        }
        const double bottom = kMargin + std::max(tree_.rows, 1) * kTreeRow;
        const double legend_end = legend(bottom + 0.8);
        return sketch_.finish(std::max(right_, legend_end) + kMargin, bottom + 0.8 + 1.2 + kMargin, "Beam search",
                              fmt::format("{} hypotheses were tried; the best path is the first row.",
                                          nodes_.empty() ? 0 : nodes_.size() - 1));
    }

private:
    std::string label(std::size_t i) const { return i == 0 ? "start" : shortened(nodes_[i].text, kLongest); }
    std::string score(std::size_t i) const {
        const std::string hidden = tree_.hidden[i] > 0 ? fmt::format("+{}", tree_.hidden[i]) : "";
        return i == 0 ? hidden : fmt::format("{:.2f}{}{}", nodes_[i].score, hidden.empty() ? "" : "  ", hidden);
    }
    double x(std::size_t i) const { return columns_[static_cast<std::size_t>(nodes_[i].step)]; }
    double y(std::size_t i) const { return kMargin + (tree_.row[i] + 0.5) * kTreeRow; }
    Colour colour(const BeamNode& node) const {
        return node.best                    ? ink_.accent
               : node.fate == Fate::Fell    ? ink_.off
               : node.fate == Fate::Cut     ? ink_.warning
               : node.fate == Fate::Stopped ? ink_.warning
                                            : ink_.text;
    }

    // Draws an edge along the parent's row, down between the columns, then along the child's row.
    void edge(std::size_t i) {
        const auto parent = static_cast<std::size_t>(nodes_[i].parent);
        const bool best = nodes_[i].best;
        const double width = best ? 0.22 : 0.08;
        const Colour ink = best ? ink_.accent : mixed(ink_.off, ink_.paper, 0.35);
        Mark mark{Role::Edge};
        mark.item = static_cast<int>(i);
        const double turn = turns_[static_cast<std::size_t>(nodes_[parent].step)];
        if (tree_.row[i] == tree_.row[parent]) {
            sketch_.line(mark, ink, {x(parent), y(i), x(i), y(i), width});
            return;
        }
        sketch_.line(mark, ink, {x(parent), y(parent), turn + width / 2.0, y(parent), width});
        sketch_.line(mark, ink, {turn, y(parent), turn, y(i), width});
        sketch_.line(mark, ink, {turn - width / 2.0, y(i), x(i), y(i), width});
    }

    void shape(const Mark& mark, Colour ink, Fate fate, double cx, double cy, double half) {
        switch (fate) {
            case Fate::Open:
                sketch_.rect(mark, ink, {cx - 0.6 * half, cy - 0.6 * half, 1.2 * half, 1.2 * half, 0.6 * half});
                break;
            case Fate::Finished: sketch_.rect(mark, ink, {cx - half, cy - half, 2.0 * half, 2.0 * half}); break;
            case Fate::Fell:
                sketch_.rect(mark, ink_.paper, {cx - half, cy - half, 2.0 * half, 2.0 * half});
                sketch_.line(mark, ink, {cx - half, cy - half, cx + half, cy + half, 0.14});
                sketch_.line(mark, ink, {cx - half, cy + half, cx + half, cy - half, 0.14});
                break;
            case Fate::Stopped:
                sketch_.rect(mark, ink_.paper, {cx - half, cy - half, 2.0 * half, 2.0 * half});
                sketch_.rect(mark, ink, {cx - 0.85 * half, cy - 0.85 * half, 1.7 * half, 1.7 * half, 0.0, 0.3 * half});
                break;
            case Fate::Cut: {
                const double reach = 1.3 * half;
                sketch_.polygon(mark, ink, {{cx, cy - reach}, {cx + reach, cy}, {cx, cy + reach}, {cx - reach, cy}});
                break;
            }
        }
    }

    void node(std::size_t i) {
        const BeamNode& one = nodes_[i];
        Mark mark{Role::Node};
        mark.item = static_cast<int>(i);
        if (sketch_.tips()) {
            mark.tip = fmt::format("{}: score {:.3f}, log probability {:.3f}{}{}", label(i), one.score,
                                   one.log_probability, one.reason.empty() ? "" : "; ", one.reason);
        }
        const double half = text_width(label(i)) / 2.0 + 0.3;
        if (static_cast<int>(i) == options_.chosen) {
            sketch_.rect(mark, ink_.chosen, {x(i) - half, y(i) - 1.45, 2.0 * half, 2.7, 0.3});
        }
        shape(mark, colour(one), one.fate, x(i), y(i), kNodeHalf);
        mark.tip.clear();
        mark.role = Role::Label;
        const Colour letters = one.fate == Fate::Fell && !one.best ? ink_.faint : ink_.text;
        sketch_.text(mark, letters, {x(i), y(i) - 0.55, 1.0, Anchor::Middle, false, one.best, label(i)});
        mark.role = Role::Value;
        sketch_.text(mark, ink_.faint, {x(i), y(i) + 1.15, kScore, Anchor::Middle, false, false, score(i)});
    }

    // Lists only the fates that occur. Returns the legend's right edge.
    double legend(double top) {
        double x = kMargin;
        for (const auto& [fate, name] : kFates) {
            const auto is = [&, wanted = fate](const BeamNode& node) { return node.fate == wanted; };
            if (!std::any_of(nodes_.begin(), nodes_.end(), is)) {
                continue;
            }
            shape({Role::Legend}, fate == Fate::Fell ? ink_.off : ink_.text, fate, x + kNodeHalf, top + 0.6, kNodeHalf);
            sketch_.text({Role::Legend}, ink_.faint,
                         {x + 2.0 * kNodeHalf + 0.4, top + 0.6 + 0.35 * 0.85, 0.85, Anchor::Start, false, false, name});
            x += 2.0 * kNodeHalf + 0.4 + 0.85 * text_width(name) + 1.2;
        }
        return x;
    }

    const std::vector<BeamNode>& nodes_;
    const BeamTreeOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    TreeRows tree_;
    std::vector<double> columns_;  // x of their centres
    std::vector<double> turns_;    // x of the vertical lines after each column
    double right_ = 0.0;
};

}  // namespace

Drawing draw_beam_tree(const std::vector<BeamNode>& nodes, const BeamTreeOptions& options) {
    return BeamTreeDrawing(nodes, options).draw();
}

}  // namespace headscope

#include "figures/candidates.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "figures/layout.h"
#include "model/family.h"
#include "paint/text_width.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope {

namespace {

constexpr double kCellHeight = 1.9;
constexpr double kCellGap = 0.2;
constexpr double kPromptGap = 0.6;  // around the rule behind a prompt
constexpr double kRule = 0.15;
constexpr double kPadding = 0.45;
constexpr const char* kWidest = "< 0.001 %";

// "23.4 %", "0.02 %", "0.004 %", "< 0.001 %"
std::string percent(double log_probability) {
    const double share = 100.0 * std::exp(log_probability);
    if (share < 0.001) {
        return "< 0.001 %";
    }
    return share >= 0.1 ? fmt::format("{:.1f} %", share) : fmt::format("{:.1g} %", share);
}

class Candidates {
public:
    Candidates(const Exploration& exploration, int chosen, const CandidatesOptions& options)
        : exploration_(exploration),
          steps_(options.gaps ? exploration.gaps : exploration.steps),
          chosen_(chosen),
          options_(options),
          sketch_(options.look),
          ink_(options.look.ink) {
        HEADSCOPE_CHECK(chosen < static_cast<int>(steps_.size()), "the chosen step exists");
        HEADSCOPE_CHECK(options.gaps || exploration.record.target_out.size() >= steps_.size(), "each step has a token");
    }

    Drawing draw() {
        strip();
        double bottom = y_ + kCellHeight;
        if (chosen_ >= 0) {
            bottom = bars(bottom + 1.0);
        }
        const std::size_t count = steps_.size();
        const char* step = options_.gaps ? "Gap" : traits(exploration_.record.family).fills_masks ? "Mask" : "Step";
        const std::string title =
            chosen_ >= 0 ? fmt::format("{} {} of {}", step, chosen_ + 1, count) : fmt::format("{}s", step);
        return sketch_.finish(std::max(options_.width, right_) + kMargin, bottom + kMargin, title,
                              counted(count, options_.gaps ? "gap" : "token") + ", each shaded by its probability.");
    }

private:
    std::string written(std::size_t step) const {
        return !options_.gaps              ? exploration_.record.target_out[step].text
               : steps_[step].position < 0 ? "(not written)"
                                           : shown(steps_[step].candidates.front().text);
    }
    // Of a gap's text that begins with a blank, or is empty.
    std::string shown(const std::string& text) const {
        const std::string word = options_.gaps && text.starts_with(' ') ? text.substr(1) : text;
        return options_.gaps && word.empty() ? "(nothing)" : word;
    }

    void strip() {
        double x = kMargin;
        for (std::size_t step = 0; step < steps_.size(); ++step) {
            const ExploredStep& one = steps_[step];
            const double width = text_width(written(step)) + 2.0 * kPadding;
            if (step > 0 && step == exploration_.prompt && !options_.gaps) {
                sketch_.rect({Role::Edge}, ink_.faint, {x + 0.5 * kPromptGap, y_, kRule, kCellHeight});
                x += kPromptGap + kRule + kCellGap;
            }
            if (x > kMargin && x + width > options_.width) {
                x = kMargin;
                y_ += kCellHeight + kCellGap;
            }
            Mark mark{Role::Cell};
            mark.item = static_cast<int>(step);
            if (sketch_.tips()) {
                mark.tip = fmt::format("{}: {}, rank {}", written(step), percent(one.log_probability), one.rank);
            }
            const Rect cell{x, y_, width, kCellHeight, 0.25};
            const Colour ground = mixed(ink_.paper, ink_.accent, 0.75 * std::exp(one.log_probability));
            sketch_.rect(mark, ground, cell);
            if (static_cast<int>(step) == chosen_) {
                mark.role = Role::Frame;
                sketch_.rect(mark, ink_.warning, {cell.x, cell.y, cell.width, cell.height, 0.25, 0.2});
            }
            mark.role = Role::Label;
            const Colour letters = contrast(ink_.text, ground) >= contrast(ink_.paper, ground) ? ink_.text : ink_.paper;
            sketch_.centred(mark, letters, cell, 1.0, written(step), static_cast<int>(step) == chosen_);
            x += width + kCellGap;
            right_ = std::max(right_, x - kCellGap);
        }
    }

    // Returns their bottom edge.
    double bars(double top) {
        const ExploredStep& step = steps_[static_cast<std::size_t>(chosen_)];
        std::vector<NextCandidate> rows = step.candidates;
        for (NextCandidate& row : rows) {
            row.text = shown(row.text);
        }
        const bool among = options_.gaps ||
                           std::ranges::any_of(rows, [&](const NextCandidate& row) { return row.token == step.token; });
        if (!among) {
            rows.push_back({step.token, written(static_cast<std::size_t>(chosen_)), step.log_probability});
        }
        double label = 0.0;
        for (const NextCandidate& row : rows) {
            label = std::max(label, std::min(text_width(row.text), kLongestLabel));
        }
        const double left = kMargin + 1.2 + 1.1 * label + 2.0 * kPadding;
        const double longest = std::max(options_.width - left - text_width(kWidest) - kPadding, 6.0);
        right_ = std::max(right_, left + longest + kPadding + text_width(kWidest));
        double y = top;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!among && i + 1 == rows.size()) {
                y += 0.5 * kBarPitch;
                sketch_.text({Role::Note}, ink_.faint,
                             {left, y - 0.25, 0.85, Anchor::Start, false, false,
                              fmt::format("written, though of rank {}", step.rank)});
                y += 0.2;
            }
            bar(rows[i], static_cast<int>(i), rows[i].token == step.token, {left, y, longest, kBarHeight});
            y += kBarPitch;
        }
        return y - kBarPitch + kBarHeight;
    }

    void bar(const NextCandidate& row, int index, bool is_written, const Rect& place) {
        const double share = std::exp(row.log_probability);
        const double line = place.y + place.height / 2.0 + kBaseline;
        Mark mark{Role::Bar};
        mark.item = index;
        if (sketch_.tips()) {
            mark.tip = fmt::format("{}: {}, log probability {:.3f}{}", row.text, percent(row.log_probability),
                                   row.log_probability, is_written ? ", written" : "");
        }
        sketch_.rect(mark, ink_.surface, place);
        sketch_.rect(mark, is_written ? ink_.accent : mixed(ink_.accent, ink_.paper, 0.45),
                     {place.x, place.y, std::max(share * place.width, 0.1), place.height});
        mark.tip.clear();
        if (is_written) {
            const double tip = place.x - 2.0 * kPadding - 1.1 * text_width(shortened(row.text, kLongestLabel));
            sketch_.polygon({Role::Legend}, ink_.accent,
                            {{tip - 0.7, line - 0.75}, {tip, line - 0.35}, {tip - 0.7, line + 0.05}});
        }
        mark.role = Role::Label;
        sketch_.text(
            mark, ink_.text,
            {place.x - kPadding, line, 1.0, Anchor::End, false, is_written, shortened(row.text, kLongestLabel)});
        mark.role = Role::Value;
        sketch_.text(
            mark, is_written ? ink_.text : ink_.faint,
            {place.x + place.width + kPadding, line, 1.0, Anchor::Start, false, false, percent(row.log_probability)});
    }

    const Exploration& exploration_;
    const std::vector<ExploredStep>& steps_;
    int chosen_;
    const CandidatesOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    double y_ = kMargin;
    double right_ = 0.0;
};

}  // namespace

Drawing draw_candidates(const Exploration& exploration, int chosen, const CandidatesOptions& options) {
    return Candidates(exploration, chosen, options).draw();
}

}  // namespace headscope

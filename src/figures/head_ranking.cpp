#include "figures/head_ranking.h"

#include <algorithm>

#include <fmt/format.h>

#include "figures/layout.h"
#include "observe/family_labels.h"
#include "paint/text_width.h"
#include "support/counted.h"

namespace headscope {

namespace {

constexpr double kWordGap = 0.9;
constexpr double kWordLine = 2.0;
constexpr double kCaption = 6.5;  // "look from"
constexpr double kRankBar = 14.0;
constexpr double kNameRoom = 13.0;
constexpr double kScoreRoom = 3.2;

class HeadRanking {
public:
    HeadRanking(const SelectedAttention& words, const std::vector<TellingHead>& ranking, Architecture family,
                const HeadRankingOptions& options)
        : words_(words),
          ranking_(ranking),
          family_(family),
          options_(options),
          sketch_(options.look),
          ink_(options.look.ink) {}

    Drawing draw() {
        const std::vector<std::string> note = wrapped(options_.note, (options_.width - 2.0 * kMargin) / kSmall);
        for (const std::string& line : note) {
            right_ = std::max(right_, kMargin + kSmall * text_width(line));
        }
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, options_.title});
        sketch_.lines_of_text({Role::Note}, ink_.faint, kMargin, kMargin + 1.6 * kTitleSize, kSmall, note);
        double y = kMargin + 1.6 * kTitleSize + lines_height(note, kSmall) + 0.8;
        y = word_line("Look from", Role::QueryLabel, words_.queries, words_.chosen, y);
        y = word_line("Look at", Role::KeyLabel, words_.keys, words_.chosen_keys, y) + 0.6;
        const std::size_t shown = std::min(ranking_.size(), options_.most);
        for (std::size_t at = 0; at < shown; ++at, y += kBarPitch) {
            row(at, y);
        }
        const std::string rest = ranking_.empty() ? "No head has such a pair of words."
                                 : shown < ranking_.size()
                                     ? fmt::format("The first {} of {} heads.", shown, ranking_.size())
                                     : "";
        if (!rest.empty()) {
            sketch_.text({Role::Note}, ink_.faint, {kMargin, y + kSmall, kSmall, Anchor::Start, false, false, rest});
            y += 1.5 * kSmall;
        }
        return sketch_.finish(right_ + kMargin, y + kMargin, options_.title,
                              fmt::format("{} ranked by a rule. {}", counted(ranking_.size(), "head"), options_.note));
    }

private:
    // Wraps the words of a row; returns the place below it.
    double word_line(const char* caption, Role role, const std::vector<RowItem>& row,
                     const std::vector<std::size_t>& chosen, double y) {
        sketch_.text({Role::Note}, ink_.faint, {kMargin, y + 1.0, 1.0, Anchor::Start, false, false, caption});
        double x = kMargin + kCaption;
        for (std::size_t at = 0; at < row.size(); ++at) {
            const double width = text_width(row[at].label) + kWordGap;
            if (x + width > options_.width && x > kMargin + kCaption) {
                x = kMargin + kCaption;
                y += kWordLine;
            }
            Mark mark{.role = role};
            (role == Role::QueryLabel ? mark.query : mark.key) = static_cast<int>(at);
            const bool on = std::find(chosen.begin(), chosen.end(), at) != chosen.end();
            if (on) {
                sketch_.rect({Role::ChosenWord}, ink_.chosen, {x - 0.5 * kWordGap, y - 0.35, width, 1.8, 0.3});
            }
            sketch_.text(mark, ink_.text, {x, y + 1.0, 1.0, Anchor::Start, false, on, row[at].label});
            x += width;
            right_ = std::max(right_, x);
        }
        return y + kWordLine;
    }

    void row(std::size_t at, double y) {
        const TellingHead& one = ranking_[at];
        Mark mark{.role = Role::Bar, .head = one.head, .layer = one.site.layer + 1, .item = static_cast<int>(at)};
        const double line = y + 0.5 * kBarHeight + kBaseline;
        double x = kMargin;
        sketch_.rect(mark, head_colour(options_.palette, one.head, ink_), {x, y + 0.25, 0.8, 0.8});
        x += 1.3;
        sketch_.text(mark, ink_.text,
                     {x, line, 1.0, Anchor::Start, false, false,
                      fmt::format("{}, head {}", layer_label(family_, one.site), one.head)});
        x += kNameRoom;
        // The whole row responds: the track of the bar, then the bar.
        sketch_.rect(mark, ink_.surface, {x, y, kRankBar, kBarHeight});
        const double most = std::max(ranking_.front().score, 1e-6);
        sketch_.rect(mark, ink_.accent, {x, y, kRankBar * std::clamp(one.score / most, 0.0, 1.0), kBarHeight});
        x += kRankBar + 0.6;
        sketch_.text(mark, ink_.text, {x, line, 1.0, Anchor::Start, false, at == 0, fmt::format("{:.2f}", one.score)});
        x += kScoreRoom;
        const std::string pair = fmt::format("{} \u2192 {} {:.2f}", shortened(one.from, kLongestLabel),
                                             shortened(one.to, kLongestLabel), one.weight);
        sketch_.text(mark, ink_.faint, {x, line, 1.0, Anchor::Start, false, false, pair});
        right_ = std::max(right_, x + text_width(pair));
    }

    const SelectedAttention& words_;
    const std::vector<TellingHead>& ranking_;
    Architecture family_;
    const HeadRankingOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    double right_ = 30.0;
};

}  // namespace

Drawing draw_head_ranking(const SelectedAttention& words, const std::vector<TellingHead>& ranking, Architecture family,
                          const HeadRankingOptions& options) {
    return HeadRanking(words, ranking, family, options).draw();
}

}  // namespace headscope

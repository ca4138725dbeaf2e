#include "figures/figure.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "figures/layout.h"
#include "paint/text_width.h"
#include "support/counted.h"

namespace headscope {

namespace {

// Lengths in units of the text size.
constexpr double kBand = 8.0;  // minimum; grows with the longest label
constexpr double kBandGap = 10.0;
constexpr double kFigureStroke = 0.2;
constexpr double kSideBySide = 0.9;  // all lines of a pair of words together, at most
constexpr double kSwatch = 2.0;
constexpr double kFigureTitle = 2.1;
constexpr double kFigurePadding = 0.2;
constexpr int kSwatchesInRow = 16;
// Lines below this opacity are not drawn: 4 of 255 steps.
constexpr double kFaintestFigureLine = 4.0 / 255.0;
// Sizes of smaller texts.
constexpr double kFigureLabel = 1.0;
constexpr double kSwatchNumber = 1.1;
constexpr double kNumber = 0.72;
constexpr double kNumberLine = 1.0;
constexpr double kNoteLine = 1.3;  // distance between baselines, in units of the text size

bool is_on(const SelectedAttention& attention, int head) {
    return std::binary_search(attention.heads.begin(), attention.heads.end(), head);
}

// The weight of a slab: for a key, the mean over the chosen queries; for a query, the sum over the chosen keys, as in
// join_weights().
double slab_weight(const SelectedAttention& attention, const Mark& mark) {
    double weight = 0.0;
    for (const std::size_t query : attention.chosen) {
        weight += static_cast<double>(attention.weight(mark.head, query, static_cast<std::size_t>(mark.key))) /
                  static_cast<double>(attention.chosen.size());
    }
    for (const std::size_t key : attention.chosen_keys) {
        weight += static_cast<double>(attention.weight(mark.head, static_cast<std::size_t>(mark.query), key));
    }
    return std::min(weight, 1.0);
}

std::vector<std::size_t> chosen_or_all(const std::vector<std::size_t>& chosen, std::size_t columns) {
    std::vector<std::size_t> all(chosen.empty() ? columns : 0);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return chosen.empty() ? all : chosen;
}

// ".54", "1"
std::string short_number(double weight) {
    const std::string text = fmt::format("{:.2f}", weight);
    return text.starts_with("0") ? text.substr(1) : "1";
}

// Lays out the primitives from top to bottom.
class Layout {
public:
    Layout(const SelectedAttention& attention, const FigureOptions& options)
        : attention_(attention), options_(options), ink_(options.look.ink), sketch_(options.look) {
        for (int head = 1; head <= attention.model_heads; ++head) {
            colours_.push_back(head_colour(options.palette, head, ink_));
        }
        if (options.side_by_side) {
            stroke_ = std::min(kFigureStroke, kSideBySide / static_cast<double>(attention.heads.size()));
        }
        find_least();
        place();
    }

    Drawing draw(std::string description) {
        sketch_.text(
            {Role::Title}, ink_.text,
            {kMargin, kMargin + 0.8 * kFigureTitle, kFigureTitle, Anchor::Start, false, false, attention_.title});
        swatches();
        chosen_cells();
        slabs();
        lines();
        labels();
        for (std::size_t line = 0; line < note_.size(); ++line) {
            const double y = foot_ + (1.5 + kNoteLine * static_cast<double>(line)) * kSmall;
            sketch_.text({Role::Note}, ink_.faint, {kMargin, y, kSmall, Anchor::Start, false, false, note_[line]});
        }
        return sketch_.finish(width_, height_, attention_.title, std::move(description));
    }

private:
    void place() {
        const int swatch_columns = std::min(attention_.model_heads, kSwatchesInRow);
        const int swatch_rows = (attention_.model_heads + kSwatchesInRow - 1) / kSwatchesInRow;
        const double lines = options_.numbers ? kNumberLine * static_cast<double>(attention_.heads.size()) + 0.2 : 0.0;
        swatch_top_ = kMargin + 1.3 * kFigureTitle;
        query_top_ = swatch_top_ + swatch_rows * kSwatch + kMargin + (attention_.chosen_keys.empty() ? 0.0 : lines);
        query_bottom_ = query_top_ + std::max(kBand, longest_label(attention_.queries) + 2.0 * kFigurePadding);
        key_top_ = query_bottom_ + kBandGap;
        key_bottom_ = key_top_ + std::max(kBand, longest_label(attention_.keys) + 2.0 * kFigurePadding);
        foot_ = key_bottom_ + (attention_.chosen.empty() ? 0.0 : lines);
        const double columns = static_cast<double>(std::max(attention_.queries.size(), attention_.keys.size()));
        const double inner =
            std::max({columns * kFigurePitch, swatch_columns * kSwatch, text_width(attention_.title) * kFigureTitle});
        width_ = inner + 2.0 * kMargin;
        note_ = wrapped(note_of(), inner / kSmall);
        const auto more_lines = static_cast<double>(note_.empty() ? 0 : note_.size() - 1);
        height_ = foot_ + kMargin + (note_.empty() ? 0.0 : (1.5 + kNoteLine * more_lines) * kSmall);
    }

    static double left(std::size_t column) { return kMargin + static_cast<double>(column) * kFigurePitch; }
    static double centre(std::size_t column) { return left(column) + 0.5 * kFigurePitch; }

    // Sets the layer of a mark that has a head.
    Mark marked(Mark mark) const {
        mark.layer = mark.head > 0 ? attention_.layer : 0;
        return mark;
    }

    std::string tip(const Mark& mark) const { return sketch_.tips() ? figure_tip(attention_, mark) : std::string(); }

    void swatches() {
        for (int head = 1; head <= attention_.model_heads; ++head) {
            const bool active = is_on(attention_, head);
            const Colour full = head_colour(options_.palette, head, ink_);
            const double x = kMargin + (head - 1) % kSwatchesInRow * kSwatch;
            const int row = (head - 1) / kSwatchesInRow;
            const double y = swatch_top_ + row * kSwatch;
            const std::string text = tip({Role::Swatch, head});
            sketch_.rect(marked({Role::Swatch, head, -1, -1, text}), active ? full : faded(full, ink_),
                         {x, y, kSwatch, kSwatch});
            sketch_.text(marked({Role::SwatchLabel, head, -1, -1, text}), active ? text_colour_on(full) : ink_.off,
                         {x + 0.5 * kSwatch, y + 0.5 * kSwatch + kBaseline * kSwatchNumber, kSwatchNumber,
                          Anchor::Middle, false, active, std::to_string(head)});
        }
    }

    void chosen_cells() {
        for (const std::size_t query : attention_.chosen) {
            sketch_.rect({Role::ChosenWord, 0, static_cast<int>(query)}, ink_.chosen,
                         {left(query), query_top_, kFigurePitch, query_bottom_ - query_top_});
        }
        for (const std::size_t key : attention_.chosen_keys) {
            sketch_.rect({Role::ChosenWord, 0, -1, static_cast<int>(key)}, ink_.chosen,
                         {left(key), key_top_, kFigurePitch, key_bottom_ - key_top_});
        }
    }

    // Divides the band of every word at the other end of the lines into one slab per active head.
    void slabs() {
        for (std::size_t key = 0; !attention_.chosen.empty() && key < attention_.keys.size(); ++key) {
            slabs_of({Role::Slab, 0, -1, static_cast<int>(key)}, left(key), key_top_, key_bottom_);
        }
        for (std::size_t query = 0; !attention_.chosen_keys.empty() && query < attention_.queries.size(); ++query) {
            slabs_of({Role::Slab, 0, static_cast<int>(query)}, left(query), query_top_, query_bottom_);
        }
    }

    void slabs_of(Mark mark, double x, double top, double bottom) {
        const double height = (bottom - top) / static_cast<double>(attention_.heads.size());
        for (std::size_t slab = 0; slab < attention_.heads.size(); ++slab) {
            mark.head = attention_.heads[slab];
            const double weight = slab_weight(attention_, mark);
            if (weight >= std::max(kFaintestFigureLine, least_for_slab(slab, mark))) {
                const Colour full = head_colour(options_.palette, mark.head, ink_);
                mark.tip = tip(mark);
                sketch_.rect(marked(mark), ground_under_text(full, ink_, weight),
                             {x, top + static_cast<double>(slab) * height, kFigurePitch, height}, weight);
                number(mark, slab, x, weight);
            }
        }
    }

    // Outside the band, whose word it would cover.
    void number(Mark mark, std::size_t slab, double x, double weight) {
        if (!options_.numbers) {
            return;
        }
        const auto line = static_cast<double>(slab);
        const double outside =
            mark.key >= 0 ? key_bottom_ + kNumberLine * (line + 0.9) : query_top_ - kNumberLine * (line + 0.2);
        mark.role = Role::Value;
        sketch_.text(marked(std::move(mark)), ink_.text,
                     {x + 0.5 * kFigurePitch, outside, kNumber, Anchor::Middle, false, false, short_number(weight)});
    }

    // The least weight of a slab: of its line, if it has one alone.
    double least_for_slab(std::size_t slot, const Mark& mark) const {
        if (mark.query >= 0) {
            return least_of(slot, static_cast<std::size_t>(mark.query));
        }
        return attention_.chosen.size() == 1 ? least_of(slot, attention_.chosen.front()) : options_.least;
    }

    // The least weight that is drawn of each visible head and query.
    void find_least() {
        for (const int head : attention_.heads) {
            for (std::size_t query = 0; query < attention_.queries.size(); ++query) {
                const auto row =
                    attention_.weights.begin() + static_cast<std::ptrdiff_t>(attention_.index(head, query, 0));
                std::vector<float> weights(row, row + std::ssize(attention_.keys));
                const auto top = static_cast<std::size_t>(options_.top);
                double least = options_.least;
                if (top > 0 && top < weights.size()) {
                    const auto last = weights.begin() + static_cast<std::ptrdiff_t>(top) - 1;
                    std::nth_element(weights.begin(), last, weights.end(), std::greater<>());
                    least = std::max(least, static_cast<double>(*last));
                }
                least_.push_back(least);
            }
        }
    }

    double least_of(std::size_t slot, std::size_t query) const {
        return least_[slot * attention_.queries.size() + query];
    }

    // Calls `see(slot, query, key, alpha, shown)` for every line that is not too faint; `slot` is the head's place
    // among the visible ones.
    template <class See>
    void each_line(const See& see) const {
        const bool all = attention_.chosen.empty() && attention_.chosen_keys.empty();
        const double share =
            all && options_.overview ? 1.0 / std::sqrt(static_cast<double>(attention_.heads.size())) : 1.0;
        const std::vector<std::size_t> queries = chosen_or_all(attention_.chosen, attention_.queries.size());
        const std::vector<std::size_t> keys = chosen_or_all(attention_.chosen_keys, attention_.keys.size());
        for (std::size_t slot = 0; slot < attention_.heads.size(); ++slot) {
            for (const std::size_t query : queries) {
                const float* row = attention_.weights.data() + attention_.index(attention_.heads[slot], query, 0);
                for (const std::size_t key : keys) {
                    const auto weight = static_cast<double>(row[key]);
                    if (const double alpha = weight * share; alpha >= kFaintestFigureLine) {
                        see(slot, query, key, std::min(alpha, 1.0), weight >= least_of(slot, query));
                    }
                }
            }
        }
    }

    // The attention's note, and what is hidden.
    std::string note_of() const {
        std::size_t hidden = 0;
        each_line([&](std::size_t, std::size_t, std::size_t, double, bool shown) { hidden += shown ? 0 : 1; });
        if (hidden == 0) {
            return attention_.note;
        }
        std::string why = options_.least > 0.0 ? fmt::format("below {:.2f}", options_.least) : "";
        if (options_.top > 0) {
            why += fmt::format("{}not among the {} strongest of a word and head", why.empty() ? "" : ", or ",
                               options_.top);
        }
        return fmt::format("{}{} hidden: {}.", attention_.note.empty() ? "" : attention_.note + " ",
                           counted(hidden, "line is", "lines are"), why);
    }

    void lines() {
        // Few of a long sentence's million weights are visible: counts them first, to reserve space once.
        std::size_t count = 2 * (attention_.queries.size() + attention_.keys.size());
        each_line([&](std::size_t, std::size_t, std::size_t, double, bool shown) { count += shown ? 1 : 0; });
        sketch_.reserve(count);
        each_line([&](std::size_t slot, std::size_t query, std::size_t key, double alpha, bool shown) {
            if (shown) {
                line(slot, query, key, alpha);
            }
        });
    }

    // How far a head's line is from the middle of a pair's lines, at a right angle to them.
    Point aside(std::size_t slot, double across, double down) const {
        if (!options_.side_by_side) {
            return {};
        }
        const double steps = static_cast<double>(slot) - 0.5 * (static_cast<double>(attention_.heads.size()) - 1.0);
        const double length = std::hypot(across, down);
        return {steps * stroke_ * down / length, -steps * stroke_ * across / length};
    }

    // Only the opacity encodes the weight, not the width or colour.
    void line(std::size_t slot, std::size_t query, std::size_t key, double alpha) {
        const int head = attention_.heads[slot];
        Mark mark{Role::Attention, head, static_cast<int>(query), static_cast<int>(key)};
        mark.tip = tip(mark);
        const auto [x, y] = aside(slot, centre(key) - centre(query), key_top_ - query_bottom_);
        sketch_.line(marked(std::move(mark)), colours_[static_cast<std::size_t>(head) - 1],
                     {centre(query) + x, query_bottom_ + y, centre(key) + x, key_top_ + y, stroke_}, alpha);
    }

    // The second text of a pair differs.
    Colour label_colour(const RowItem& item) const { return item.second ? ink_.accent : ink_.text; }

    // Both rows are rotated; the upper one starts and the lower one ends next to the lines.
    void labels() {
        for (std::size_t i = 0; i < attention_.queries.size(); ++i) {
            shade(i);
            sketch_.text({Role::QueryLabel, 0, static_cast<int>(i)}, label_colour(attention_.queries[i]),
                         {centre(i) + kBaseline, query_bottom_ - kFigurePadding, kFigureLabel, Anchor::Start, true,
                          false, attention_.queries[i].label});
        }
        for (std::size_t i = 0; i < attention_.keys.size(); ++i) {
            sketch_.text({Role::KeyLabel, 0, -1, static_cast<int>(i)}, label_colour(attention_.keys[i]),
                         {centre(i) + kBaseline, key_top_ + kFigurePadding, kFigureLabel, Anchor::End, true, false,
                          attention_.keys[i].label});
        }
    }

    // A word by its probability: full colour is 1.
    void shade(std::size_t query) {
        const RowItem& item = attention_.queries[query];
        if (!options_.probabilities || !item.probability) {
            return;
        }
        constexpr double kWidth = 0.8 * kFigurePitch;
        constexpr double kMostAlpha = 0.45;
        const double height = text_width(item.label) * kFigureLabel + 2.0 * kFigurePadding;
        Mark mark{Role::Bar, 0, static_cast<int>(query)};
        mark.tip = sketch_.tips() ? fmt::format("{}: probability {:.3f}", item.label, *item.probability) : "";
        sketch_.rect(mark, ink_.accent, {centre(query) - 0.5 * kWidth, query_bottom_ - height, kWidth, height, 0.2},
                     kMostAlpha * *item.probability);
    }

    const SelectedAttention& attention_;
    const FigureOptions& options_;
    const Ink& ink_;
    Sketch sketch_;
    std::vector<Colour> colours_;    // of each head
    std::vector<double> least_;      // [visible heads, queries]
    std::vector<std::string> note_;  // its lines
    double stroke_ = kFigureStroke;
    double swatch_top_ = 0.0;
    double query_top_ = 0.0;
    double query_bottom_ = 0.0;
    double key_top_ = 0.0;
    double key_bottom_ = 0.0;
    double foot_ = 0.0;  // above the note
    double width_ = 0.0;
    double height_ = 0.0;
};

std::string describe(const SelectedAttention& attention) {
    std::string text = fmt::format("{}, {} {} of {}. Queries above, keys below; a line's opacity is the weight.",
                                   attention.title, attention.heads.size() == 1 ? "head" : "heads",
                                   fmt::join(attention.heads, ", "), attention.model_heads);
    for (const std::size_t key : attention.chosen_keys) {
        for (const int head : attention.heads) {
            std::size_t most = 0;
            for (std::size_t query = 1; query < attention.queries.size(); ++query) {
                most = attention.weight(head, query, key) > attention.weight(head, most, key) ? query : most;
            }
            text +=
                fmt::format(" In head {} \"{}\" is looked at most by \"{}\" ({:.2f}).", head, attention.keys[key].label,
                            attention.queries[most].label, attention.weight(head, most, key));
        }
    }
    for (const std::size_t query : attention.chosen) {
        for (const int head : attention.heads) {
            const std::size_t key = attention.strongest(head, query);
            text += fmt::format(" Head {} looks from \"{}\" mostly at \"{}\" ({:.2f}).", head,
                                attention.queries[query].label, attention.keys[key].label,
                                attention.weight(head, query, key));
        }
    }
    return text;
}

}  // namespace

double longest_label(const std::vector<RowItem>& row) {
    double length = 0.0;
    for (const RowItem& item : row) {
        length = std::max(length, text_width(item.label));
    }
    return length;
}

StrongestPair strongest_pair(const SelectedAttention& attention) {
    StrongestPair best{.head = attention.heads.front(), .weight = -1.0};
    for (const int head : attention.heads) {
        for (const std::size_t query : chosen_or_all(attention.chosen, attention.queries.size())) {
            for (const std::size_t key : chosen_or_all(attention.chosen_keys, attention.keys.size())) {
                if (const auto weight = static_cast<double>(attention.weight(head, query, key)); weight > best.weight) {
                    best = {head, query, key, weight};
                }
            }
        }
    }
    return best;
}

std::vector<HeadWeight> heads_of_line(const SelectedAttention& attention, const Mark& mark) {
    std::vector<HeadWeight> heads;
    if (mark.role == Role::Attention) {
        for (const int head : attention.heads) {
            const float weight =
                attention.weight(head, static_cast<std::size_t>(mark.query), static_cast<std::size_t>(mark.key));
            heads.push_back({head, static_cast<double>(weight)});
        }
    }
    std::stable_sort(heads.begin(), heads.end(),
                     [](const HeadWeight& a, const HeadWeight& b) { return a.weight > b.weight; });
    return heads;
}

std::string figure_tip(const SelectedAttention& attention, const Mark& mark) {
    switch (mark.role) {
        case Role::Swatch:
        case Role::SwatchLabel:
            return fmt::format("head {} ({})", mark.head, is_on(attention, mark.head) ? "on" : "off");
        case Role::Slab: {
            const RowItem& item = mark.key >= 0 ? attention.keys[static_cast<std::size_t>(mark.key)]
                                                : attention.queries[static_cast<std::size_t>(mark.query)];
            return fmt::format("head {}: {} {:.2f}", mark.head, item.label, slab_weight(attention, mark));
        }
        case Role::Attention:
        case Role::Cell: {
            const auto query = static_cast<std::size_t>(mark.query);
            const auto key = static_cast<std::size_t>(mark.key);
            const float weight = attention.weight(mark.head, query, key);
            return fmt::format("head {}: {} \u2192 {} {}", mark.head, attention.queries[query].label,
                               attention.keys[key].label,
                               mark.role == Role::Cell ? fmt::format("{:.4g}", weight) : fmt::format("{:.2f}", weight));
        }
        default: return {};
    }
}

Drawing draw_figure(const SelectedAttention& attention, const FigureOptions& options) {
    return Layout(attention, options).draw(describe(attention));
}

}  // namespace headscope

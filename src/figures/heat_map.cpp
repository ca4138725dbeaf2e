#include "figures/heat_map.h"

#include "figures/figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "figures/layout.h"
#include "paint/text_width.h"

namespace headscope {

namespace {

constexpr double kLabelGap = 0.5;
constexpr double kLeastLegend = 18.0;
constexpr double kLegendHeight = 0.9;
constexpr double kFaintestCell = 1.0 / 255.0;
constexpr double kMaskedGap = 1.5;
constexpr const char* kMasked = "masked";

double largest_of(const SelectedAttention& content, int head) {
    double largest = 0.0;
    for (std::size_t query = 0; query < content.queries.size(); ++query) {
        for (std::size_t key = 0; key < content.keys.size(); ++key) {
            largest = std::max(largest, std::abs(static_cast<double>(content.weight(head, query, key))));
        }
    }
    return largest > 0.0 ? largest : 1.0;
}

class HeatMap {
public:
    HeatMap(const SelectedAttention& content, int head, const HeatMapOptions& options)
        : content_(content), head_(head), options_(options), sketch_(options.look), ink_(options.look.ink) {
        full_ = options.full > 0.0 ? options.full : options.scale == Scale::Diverging ? largest_of(content, head) : 1.0;
        const double axes = std::max(text_width(across()), text_width(down())) * kSmall;
        const double label = std::max(longest_label(content.queries), text_width("query") * kSmall);
        left_ = snapped(std::max(kMargin + label, axes) + kLabelGap);
        top_ = snapped(kMargin + 1.4 * kTitleSize + std::max(longest_label(content.keys), 2.0) + kLabelGap);
        right_ = left_ + options.cell * static_cast<double>(content.keys.size());
        bottom_ = top_ + options.cell * static_cast<double>(content.queries.size());
    }

    Drawing draw() {
        // A mean over heads or a rollout has no head number.
        const std::string title =
            content_.model_heads == 1 ? content_.title : fmt::format("{}, head {}", content_.title, head_);
        sketch_.text({Role::Title, head_}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title});
        chosen();
        masked_cells();
        cells();
        sketch_.rect({Role::Frame, head_}, ink_.rule, {left_, top_, right_ - left_, bottom_ - top_, 0.0, 0.1});
        labels();
        const double legend = std::max(kLeastLegend, std::min(right_ - left_, 24.0));
        draw_legend(legend);
        const double masked = any_masked_ ? kMaskedGap + kLegendHeight + kLabelGap + text_width(kMasked) * kSmall : 0.0;
        const double end = std::max({right_, left_ + legend + masked, kMargin + text_width(title) * kTitleSize});
        const double foot = bottom_ + kLabelGap + kLegendHeight + 1.5 * kSmall + kLabelGap;
        const std::vector<std::string> note = wrapped(content_.note, (end - kMargin) / kSmall);
        sketch_.lines_of_text({Role::Note}, ink_.faint, kMargin, foot + kSmall, kSmall, note);
        return sketch_.finish(
            end + kMargin, foot + lines_height(note, kSmall) + kMargin, title,
            options_.description.empty()
                ? fmt::format("{}: {} queries in rows from above to below, {} keys in columns from left to right; the "
                              "colour is the weight.",
                              title, content_.queries.size(), content_.keys.size())
                : options_.description);
    }

private:
    void chosen() {
        for (const std::size_t query : content_.chosen) {
            sketch_.rect({Role::ChosenWord, 0, static_cast<int>(query)}, ink_.chosen,
                         {kMargin, top_ + static_cast<double>(query) * options_.cell, left_ - kMargin, options_.cell});
        }
    }

    // Without weight at the end of a query's row.
    std::size_t masked_of(std::size_t query) const {
        const RowItem& item = content_.queries[query];
        const std::size_t keys = content_.keys.size();
        std::size_t masked = 0;
        while (content_.causal && masked < keys && content_.keys[keys - 1 - masked].first >= item.first + item.count &&
               content_.weight(head_, query, keys - 1 - masked) == 0.0F) {
            ++masked;
        }
        return masked;
    }

    void masked_cells() {
        for (std::size_t query = 0; query < content_.queries.size(); ++query) {
            if (const std::size_t masked = masked_of(query); masked > 0) {
                const double width = options_.cell * static_cast<double>(masked);
                sketch_.rect({Role::Grid}, ink_.surface,
                             {right_ - width, top_ + static_cast<double>(query) * options_.cell, width, options_.cell});
                any_masked_ = true;
            }
        }
    }

    void cells() {
        for (std::size_t query = 0; query < content_.queries.size(); ++query) {
            for (std::size_t key = 0; key < content_.keys.size(); ++key) {
                const double weight = static_cast<double>(content_.weight(head_, query, key));
                const double place = place_on(options_.scale, weight, full_);
                if (std::abs(place) < kFaintestCell) {
                    continue;
                }
                Mark mark{Role::Cell, head_, static_cast<int>(query), static_cast<int>(key)};
                if (sketch_.tips()) {
                    mark.tip = tip(mark);
                }
                sketch_.rect(std::move(mark), colour_on(options_.scale, place, ink_),
                             {left_ + static_cast<double>(key) * options_.cell,
                              top_ + static_cast<double>(query) * options_.cell, options_.cell, options_.cell});
            }
        }
    }

    std::string across() const { return std::string(options_.across) + " \u2192"; }
    std::string down() const { return std::string(options_.down) + " \u2193"; }

    // Only attention is of a head.
    std::string tip(const Mark& mark) const {
        if (options_.description.empty()) {
            return figure_tip(content_, mark);
        }
        const auto query = static_cast<std::size_t>(mark.query);
        const auto key = static_cast<std::size_t>(mark.key);
        return fmt::format("{}, {}: {:+.4g}", content_.queries[query].label, content_.keys[key].label,
                           content_.weight(head_, query, key));
    }

    // The second text of a pair differs.
    Colour label_colour(const RowItem& item) const { return item.second ? ink_.accent : ink_.text; }

    void labels() {
        const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(1.1 / options_.cell)));
        const double middle = 0.5 * options_.cell + kBaseline;
        for (std::size_t i = 0; i < content_.queries.size(); i += every) {
            sketch_.text({Role::QueryLabel, 0, static_cast<int>(i)}, label_colour(content_.queries[i]),
                         {left_ - kLabelGap, top_ + static_cast<double>(i) * options_.cell + middle, 1.0, Anchor::End,
                          false, false, content_.queries[i].label});
        }
        for (std::size_t i = 0; i < content_.keys.size(); i += every) {
            sketch_.text({Role::KeyLabel, 0, -1, static_cast<int>(i)}, label_colour(content_.keys[i]),
                         {left_ + static_cast<double>(i) * options_.cell + middle, top_ - kLabelGap, 1.0, Anchor::Start,
                          true, false, content_.keys[i].label});
        }
        sketch_.text({Role::Axis}, ink_.faint,
                     {left_ - kLabelGap, top_ - kLabelGap - 1.2 * kSmall, kSmall, Anchor::End, false, false, across()});
        sketch_.text({Role::Axis}, ink_.faint,
                     {left_ - kLabelGap, top_ - kLabelGap, kSmall, Anchor::End, false, false, down()});
    }

    void draw_legend(double width) {
        constexpr int kSteps = 48;
        const double y = bottom_ + kLabelGap;
        const double low = options_.scale == Scale::Diverging ? -1.0 : 0.0;
        for (int step = 0; step < kSteps; ++step) {
            const double place = low + (1.0 - low) * (step + 0.5) / kSteps;
            sketch_.rect({Role::Legend}, colour_on(options_.scale, place, ink_),
                         {left_ + width * step / kSteps, y, width / kSteps, kLegendHeight});
        }
        sketch_.rect({Role::Legend}, ink_.rule, {left_, y, width, kLegendHeight, 0.0, 0.1});
        const auto tick = [&](double place, const std::string& text) {
            const double x = left_ + width * (place - low) / (1.0 - low);
            const Anchor anchor = place == low ? Anchor::Start : place == 1.0 ? Anchor::End : Anchor::Middle;
            sketch_.text({Role::Legend}, ink_.faint,
                         {x, y + kLegendHeight + 1.2 * kSmall, kSmall, anchor, false, false, text});
        };
        if (options_.scale == Scale::Logarithmic) {
            tick(0.0, fmt::format("\u2264 {:.2g}", full_ / 1000.0));
            tick(1.0 / 3.0, fmt::format("{:.2g}", full_ / 100.0));
            tick(2.0 / 3.0, fmt::format("{:.2g}", full_ / 10.0));
        } else {
            tick(low, fmt::format("{:.2g}", low * full_));
            tick((low + 1.0) / 2.0, fmt::format("{:.2g}", (low + 1.0) / 2.0 * full_));
        }
        tick(1.0, fmt::format("{:.2g}", full_));
        if (any_masked_) {
            const Rect swatch{left_ + width + kMaskedGap, y, kLegendHeight, kLegendHeight};
            sketch_.rect({Role::Legend}, ink_.surface, swatch);
            sketch_.rect({Role::Legend}, ink_.rule, {swatch.x, y, kLegendHeight, kLegendHeight, 0.0, 0.1});
            sketch_.text({Role::Legend}, ink_.faint,
                         {swatch.x + kLegendHeight + kLabelGap, y + 0.5 * kLegendHeight + kBaseline * kSmall, kSmall,
                          Anchor::Start, false, false, kMasked});
        }
    }

    const SelectedAttention& content_;
    int head_;
    const HeatMapOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    double full_ = 1.0;
    bool any_masked_ = false;
    double left_ = 0.0;
    double top_ = 0.0;
    double right_ = 0.0;
    double bottom_ = 0.0;
};

}  // namespace

double place_on(Scale scale, double value, double full) {
    switch (scale) {
        case Scale::Linear: return std::clamp(value / full, 0.0, 1.0);
        case Scale::Logarithmic: return value <= 0.0 ? 0.0 : std::clamp(1.0 + std::log10(value / full) / 3.0, 0.0, 1.0);
        case Scale::Diverging: return std::clamp(value / full, -1.0, 1.0);
    }
    return 0.0;
}

Colour colour_on(Scale scale, double place, const Ink& ink) {
    return scale == Scale::Diverging ? diverging_colour(place, ink) : scale_colour(place, ink);
}

Drawing draw_heat_map(const SelectedAttention& content, int head, const HeatMapOptions& options) {
    check_heads({head}, content.model_heads);
    return HeatMap(content, head, options).draw();
}

std::string to_tsv(const SelectedAttention& content, int head) {
    check_heads({head}, content.model_heads);
    std::string text;
    for (const RowItem& key : content.keys) {
        text += "\t" + key.label;
    }
    text += "\n";
    for (std::size_t query = 0; query < content.queries.size(); ++query) {
        text += content.queries[query].label;
        for (std::size_t key = 0; key < content.keys.size(); ++key) {
            text += fmt::format("\t{:.9g}", content.weight(head, query, key));
        }
        text += "\n";
    }
    return text;
}

}  // namespace headscope

#include "figures/importance_drawing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "figures/layout.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "paint/text_width.h"

namespace headscope {

namespace {

constexpr double kWidth = 4.4;  // of a cell
constexpr double kHeight = 2.0;
constexpr double kBarLength = 24.0;
constexpr double kBarValue = 4.0;
constexpr AttentionKind kKinds[] = {AttentionKind::EncoderSelf, AttentionKind::DecoderSelf, AttentionKind::Cross};

// With its sign, unless it rounds to 0.
std::string signed_number(double value, int digits) {
    const std::string text = fmt::format("{:+.{}f}", value, digits);
    return text.find_first_not_of("+-0.") == std::string::npos ? text.substr(1) : text;
}

class ImportanceDrawing {
public:
    ImportanceDrawing(const Importance& importance, const ImportanceOptions& options)
        : importance_(importance), options_(options), sketch_(options.look), ink_(options.look.ink) {
        for (const HeadImportance& one : importance.heads) {
            largest_ = std::max(largest_, std::abs(one.loss));
        }
    }

    Drawing draw() {
        const std::string title = !options_.title.empty() ? options_.title
                                                          : fmt::format("What each head is worth to this {}",
                                                                        traits(importance_.family).predicted_in);
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title});
        const std::string note =
            fmt::format("{}{}", options_.note.empty() ? "Loss of log probability without the head" : options_.note,
                        importance_.finished || importance_.total == 0
                            ? std::string()
                            : fmt::format("; {} of {} heads so far", importance_.heads.size(), importance_.total));
        sketch_.text({Role::Note}, ink_.faint,
                     {kMargin, kMargin + 1.6 * kTitleSize, kSmall, Anchor::Start, false, false, note});
        right_ = kMargin + std::max(text_width(title) * kTitleSize, text_width(note) * kSmall);
        const double top = kMargin + 1.6 * kTitleSize + 1.4;
        const double bottom = options_.bars ? bars(top) : grids(top);
        return sketch_.finish(right_ + kMargin, bottom + kMargin, title, note + ".");
    }

private:
    // A language model has one kind of attention.
    std::string kind_name(AttentionKind kind, const char* after, const char* only) const {
        return traits(importance_.family).reads_source ? std::string(name_of(kind)) + after : only;
    }

    Mark mark_of(Role role, std::size_t index) const {
        const HeadImportance& one = importance_.heads[index];
        Mark mark{role, one.head};
        mark.layer = one.site.layer + 1;
        mark.item = static_cast<int>(index);
        if (options_.look.tips) {
            mark.tip = fmt::format("{}, head {}: {}", layer_label(importance_.family, one.site), one.head,
                                   signed_number(one.loss, 4));
        }
        return mark;
    }

    double grids(double top) {
        double y = top;
        for (const AttentionKind kind : kKinds) {
            int layers = 0;
            int heads = 0;
            for (const HeadImportance& one : importance_.heads) {
                if (one.site.kind == kind) {
                    layers = std::max(layers, one.site.layer + 1);
                    heads = std::max(heads, one.head);
                }
            }
            if (layers > 0) {
                y = grid(kind, layers, heads, y) + 1.6;
            }
        }
        return std::max(y - 1.6, top);
    }

    double grid(AttentionKind kind, int layers, int heads, double top) {
        const double left = snapped(kMargin + text_width("layer 99") * kSmall + 0.5);
        sketch_.text(
            {Role::Label}, ink_.text,
            {kMargin, top + 0.9, 1.0, Anchor::Start, false, true, kind_name(kind, " attention", "self-attention")});
        const double y = top + 2.9;
        for (int head = 1; head <= heads; ++head) {
            sketch_.text({Role::Axis, head}, ink_.faint,
                         {left + (head - 0.5) * kWidth, y - 0.4, kSmall, Anchor::Middle, false, false,
                          fmt::format("head {}", head)});
        }
        for (int layer = 1; layer <= layers; ++layer) {
            sketch_.text({Role::Axis}, ink_.faint,
                         {left - 0.5, y + (layer - 0.5) * kHeight + kBaseline * kSmall, kSmall, Anchor::End, false,
                          false, fmt::format("layer {}", layer)});
        }
        for (std::size_t i = 0; i < importance_.heads.size(); ++i) {
            const HeadImportance& one = importance_.heads[i];
            if (one.site.kind != kind) {
                continue;
            }
            const Rect place{left + (one.head - 1) * kWidth, y + one.site.layer * kHeight, kWidth, kHeight};
            const Colour ground = diverging_colour(largest_ > 0.0 ? one.loss / largest_ : 0.0, ink_);
            Mark mark = mark_of(Role::Cell, i);
            sketch_.rect(mark, ground, {place.x + 0.05, place.y + 0.05, place.width - 0.1, place.height - 0.1, 0.15});
            mark.role = Role::Value;
            mark.tip.clear();
            const Colour letters = contrast(ink_.text, ground) >= contrast(ink_.paper, ground) ? ink_.text : ink_.paper;
            sketch_.centred(mark, letters, place, 0.9, signed_number(one.loss, 2));
        }
        right_ = std::max(right_, left + heads * kWidth);
        return y + layers * kHeight;
    }

    double bars(double top) {
        std::vector<std::size_t> order(importance_.heads.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return importance_.heads[a].loss > importance_.heads[b].loss;
        });
        if (static_cast<int>(order.size()) > options_.most_bars) {
            order.resize(static_cast<std::size_t>(std::max(options_.most_bars, 0)));
        }
        double label = 0.0;
        double below = 0.0;  // the longest bar left of zero
        for (const std::size_t i : order) {
            label = std::max(label, text_width(name(i)));
            below = std::max(below, -importance_.heads[i].loss);
        }
        const double unit = largest_ > 0.0 ? kBarLength / (largest_ + below) : 0.0;
        const double room = below > 0.0 ? kBarValue : 0.0;
        const double zero = kMargin + label + 0.6 + room + below * unit;
        double y = top;
        for (const std::size_t i : order) {
            bar(i, zero, y, unit, zero - room - below * unit - 0.6);
            y += kBarPitch;
        }
        sketch_.line({Role::Axis}, ink_.off,
                     {zero, top - 0.2, zero, std::max(y - kBarPitch + kBarHeight, top) + 0.2, 0.08});
        right_ = std::max(right_, zero + largest_ * unit + kBarValue);
        return std::max(y - kBarPitch + kBarHeight, top);
    }

    std::string name(std::size_t index) const {
        const HeadImportance& one = importance_.heads[index];
        return fmt::format("{}L{} H{}", kind_name(one.site.kind, " ", ""), one.site.layer + 1, one.head);
    }

    void bar(std::size_t index, double zero, double y, double unit, double label_end) {
        const HeadImportance& one = importance_.heads[index];
        const double length = std::abs(one.loss) * unit;
        const double line = y + kBarHeight / 2.0 + kBaseline;
        const bool harms = one.loss < 0.0;
        Mark mark = mark_of(Role::Bar, index);
        sketch_.rect(mark, diverging_colour(harms ? -0.75 : 0.75, ink_),
                     {harms ? zero - length : zero, y, std::max(length, 0.05), kBarHeight});
        mark.tip.clear();
        mark.role = Role::Label;
        sketch_.text(mark, ink_.text, {label_end, line, 1.0, Anchor::End, false, false, name(index)});
        mark.role = Role::Value;
        sketch_.text(mark, ink_.faint,
                     {harms ? zero - length - 0.4 : zero + length + 0.4, line, kSmall,
                      harms ? Anchor::End : Anchor::Start, false, false, signed_number(one.loss, 3)});
    }

    const Importance& importance_;
    const ImportanceOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    double largest_ = 0.0;
    double right_ = 0.0;
};

}  // namespace

Drawing draw_importance(const Importance& importance, const ImportanceOptions& options) {
    return ImportanceDrawing(importance, options).draw();
}

}  // namespace headscope

#include "figures/lens_drawing.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "figures/layout.h"
#include "paint/text_width.h"

namespace headscope {

namespace {

constexpr double kRow = 2.0;
constexpr double kGap = 0.08;  // between cells
constexpr double kNarrowest = 3.2;
constexpr double kWidest = 7.0;
constexpr const char* kTitle = "What the model would write after each layer";
constexpr const char* kNote =
    "Each cell: the likeliest piece if the model stopped after that layer; the stronger its colour, the likelier. "
    "Framed: the piece that was written.";
constexpr double kNoteWidth = 40.0;

class LensDrawing {
public:
    LensDrawing(const Lens& lens, const Look& look) : lens_(lens), sketch_(look), ink_(look.ink) {
        double widest = kNarrowest;
        for (const LensLayer& layer : lens.layers) {
            for (const ExploredStep& step : layer.steps) {
                widest = std::max(widest, text_width(step.candidates.front().text) + 0.8);
            }
        }
        for (std::size_t column = 0; column < lens.tokens.size(); ++column) {
            widest = std::max(
                {widest, text_width(lens.tokens[column].text) + 0.5, text_width(lens.given[column]) * kBold + 0.5});
        }
        cell_ = snapped(std::min(widest, kWidest));
        left_ = snapped(kMargin + text_width("embedding") * kSmall + 0.5);
        const double columns = static_cast<double>(lens.tokens.size()) * cell_;
        right_ = std::max(left_ + columns, kMargin + text_width(kTitle) * kTitleSize);
        note_ = wrapped(kNote, std::min(right_ - kMargin, kNoteWidth) / kSmall);
        given_ = kMargin + 1.4 * kTitleSize + lines_height(note_, kSmall) + 1.0;
        top_ = given_ + kRow;
    }

    Drawing draw() {
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, kTitle});
        sketch_.lines_of_text({Role::Note}, ink_.faint, kMargin, kMargin + 1.4 * kTitleSize + kSmall, kSmall, note_);
        row_label(given_, "written");
        for (std::size_t column = 0; column < lens_.tokens.size(); ++column) {
            word(given_, column, lens_.given[column], true);
        }
        double y = top_;
        for (std::size_t layer = lens_.layers.size(); layer-- > 0; y += kRow) {
            row_label(y, layer == 0 ? "embedding" : fmt::format("layer {}", layer));
            for (std::size_t column = 0; column < lens_.tokens.size(); ++column) {
                cell(y, layer, column);
            }
        }
        row_label(y, "read");
        for (std::size_t column = 0; column < lens_.tokens.size(); ++column) {
            word(y, column, lens_.tokens[column].text, false);
        }
        return sketch_.finish(right_ + kMargin, y + kRow + kMargin, kTitle, description());
    }

private:
    Rect place(double y, std::size_t column) const {
        return {left_ + static_cast<double>(column) * cell_ + kGap, y + kGap, cell_ - 2.0 * kGap, kRow - 2.0 * kGap};
    }

    void row_label(double y, const std::string& text) {
        sketch_.text({Role::Axis}, ink_.faint,
                     {left_ - 0.5, y + 0.5 * kRow + kBaseline * kSmall, kSmall, Anchor::End, false, false, text});
    }

    // Cut to its column.
    void word(double y, std::size_t column, const std::string& text, bool bold) {
        Mark mark{bold ? Role::Value : Role::KeyLabel};
        mark.key = mark.item = static_cast<int>(column);
        sketch_.centred(mark, ink_.text, place(y, column), 1.0, shortened(text, cell_ / (bold ? kBold : 1.0) - 0.4),
                        bold);
    }

    bool is_given(std::size_t layer, std::size_t column) const {
        return !lens_.given[column].empty() && lens_.layers[layer].steps[column].rank == 1;
    }

    std::string tip(std::size_t layer, std::size_t column) const {
        const ExploredStep& step = lens_.layers[layer].steps[column];
        std::string text =
            fmt::format("{}, at \u201C{}\u201D", layer == 0 ? "embedding" : fmt::format("layer {}", layer),
                        lens_.tokens[column].text);
        for (std::size_t i = 0; i < std::min<std::size_t>(step.candidates.size(), 5); ++i) {
            text += fmt::format("\n{} {:.3f}", step.candidates[i].text, std::exp(step.candidates[i].log_probability));
        }
        if (!lens_.given[column].empty()) {
            text += fmt::format("\nwritten: {} {:.3f}, number {}", lens_.given[column], std::exp(step.log_probability),
                                step.rank);
        }
        return text;
    }

    void cell(double y, std::size_t layer, std::size_t column) {
        const NextCandidate& best = lens_.layers[layer].steps[column].candidates.front();
        const Rect at = place(y, column);
        const Colour ground = scale_colour(0.85 * std::exp(best.log_probability), ink_);
        Mark mark{.role = Role::Cell, .layer = static_cast<int>(layer), .item = static_cast<int>(column)};
        mark.tip = sketch_.tips() ? tip(layer, column) : "";
        sketch_.rect(mark, ground, at);
        if (is_given(layer, column)) {
            sketch_.rect({Role::Frame}, ink_.accent, {at.x, at.y, at.width, at.height, 0.0, 0.16});
        }
        mark.role = Role::Label;
        const Colour letters = contrast(ink_.text, ground) >= contrast(ink_.paper, ground) ? ink_.text : ink_.paper;
        sketch_.centred(std::move(mark), letters, at, 0.95, shortened(best.text, cell_ - 0.6));
    }

    std::string description() const {
        std::string text =
            fmt::format("{}: {} layers over {} tokens.", kTitle, lens_.layers.size() - 1, lens_.tokens.size());
        for (std::size_t column = 0; column < lens_.tokens.size(); ++column) {
            std::size_t from = lens_.layers.size();
            while (from > 0 && is_given(from - 1, column)) {
                --from;
            }
            if (from < lens_.layers.size()) {
                text += fmt::format(" \"{}\" is the likeliest from {} on.", lens_.given[column],
                                    from == 0 ? "the embedding" : fmt::format("layer {}", from));
            }
        }
        return text;
    }

    const Lens& lens_;
    Sketch sketch_;
    const Ink& ink_;
    std::vector<std::string> note_;
    double cell_ = 0.0;
    double left_ = 0.0, right_ = 0.0;
    double given_ = 0.0, top_ = 0.0;
};

}  // namespace

Drawing draw_lens(const Lens& lens, const Look& look) {
    return LensDrawing(lens, look).draw();
}

}  // namespace headscope

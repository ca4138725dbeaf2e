// Both halves of the paper's Figure 2.
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "figures/model_sketch.h"
#include "model/family.h"

namespace headscope {

namespace {

constexpr double kFigureWidth = 17.0;
constexpr double kBoxHeight = kLowBlock + 0.2;  // the height of a box
constexpr int kShadows = 2;                     // behind a box that exists once for each head
constexpr double kShadow = 0.4;                 // how far each is from the one before it

const char* masked_by(const ModelConfig& config) {
    const FamilyTraits& family = traits(config.architecture);
    if (family.continues_text) {
        return "Mask (later tokens)";
    }
    return family.fills_masks || config.generation == Generation::MaskPredict ? "Mask (pads)" : "Mask (decoder; pads)";
}

struct Step {
    std::string name;
    Colour fill;
};

class Figure2 {
public:
    Figure2(ModelSketch& pen, const ModelConfig& config, double left)
        : pen_(pen), attention_(config.attention), config_(config), left_(left), middle_(left + kFigureWidth / 2.0) {}

    // Linear layers, the attention of every head, and what joins them. Returns the lower end.
    double multi_head(double top) {
        title(top, "Multi-Head Attention");
        double y = top + 1.1 + kBlockGap;
        up(middle_, y, y - kBlockGap);
        const Rect output{left_ + 3.5, y, kFigureWidth - 7.0, kBoxHeight};
        box(pen_.ink().paper, output,
            fmt::format("Linear {} \u2192 {}", attention_.heads * attention_.d_v, config_.d_model));
        y += kBoxHeight + kBlockGap;
        up(middle_, y, y - kBlockGap);
        box(pen_.fill_of(BlockKind::Norm), {output.x, y, output.width, kBoxHeight}, "Concat");
        y += kBoxHeight + kBlockGap + kShadows * kShadow;
        for (const double beside : {-1.2, 0.0, 1.2}) {
            up(middle_ + beside, y - kShadows * kShadow, y - kBlockGap - kShadows * kShadow);
        }
        const Rect scores{left_ + 0.6, y, kFigureWidth - 4.2, kBoxHeight};
        stacked(pen_.fill_of(BlockKind::Linear), scores, name(), "");
        bracket(scores);
        y += kBoxHeight + 1.5 + kShadows * kShadow;
        const std::array<std::int64_t, 3> columns{attention_.d_v, attention_.d_k, attention_.d_k};
        const std::array<const char*, 3> names{"V", "K", "Q"};
        for (std::size_t i = 0; i < names.size(); ++i) {
            const Rect place{left_ + 0.6 + 5.0 * static_cast<double>(i), y, 3.8, kTallBlock};
            const double x = place.x + place.width / 2.0;
            up(x, y, scores.y + kBoxHeight);
            stacked(pen_.ink().paper, place, "Linear", fmt::format("{} \u2192 {}", config_.d_model, columns[i]));
            up(x, y + kTallBlock + kBlockGap, y + kTallBlock);
            label(x, y + kTallBlock + kBlockGap + 1.0, names[i]);
        }
        return y + kTallBlock + kBlockGap + 1.2;
    }

    // The scores of one head, and the values that they weigh, which pass by everything else. Returns the lower end.
    double scores(double top) {
        title(top, name());
        double y = top + 1.1 + kBlockGap;
        const double values = left_ + kFigureWidth - 1.5;
        const double column = kFigureWidth - 3.5;
        const double x = left_ + column / 2.0;
        up(middle_, y, y - kBlockGap);
        box(pen_.fill_of(BlockKind::Linear), {left_, y, kFigureWidth, kBoxHeight}, "MatMul");
        const double weighed = y + kBoxHeight;
        for (const Step& step : steps()) {
            y += kBoxHeight + kBlockGap;
            up(x, y, y - kBlockGap);
            box(step.fill, {left_, y, column, kBoxHeight}, step.name);
        }
        const double bottom = y + kBoxHeight + kBlockGap;
        up(x - 2.5, bottom, bottom - kBlockGap);
        up(x + 2.5, bottom, bottom - kBlockGap);
        up(values, bottom, weighed);
        label(x - 2.5, bottom + 1.0, "Q");
        label(x + 2.5, bottom + 1.0, "K");
        label(values, bottom + 1.0, "V");
        return bottom + 1.2;
    }

private:
    bool additive() const { return attention_.score == AttentionScore::Additive; }
    bool scaled() const { return attention_.score == AttentionScore::ScaledDotProduct; }
    const char* name() const {
        return additive() ? "Additive Attention" : scaled() ? "Scaled Dot-Product Attention" : "Dot-Product Attention";
    }

    // From the weights down to the queries and keys.
    std::vector<Step> steps() const {
        std::vector<Step> all{{"SoftMax", pen_.fill_of(BlockKind::Softmax)},
                              {masked_by(config_), pen_.fill_of(BlockKind::Embedding)}};
        if (config_.positions.relative.kind != RelativePositions::None) {
            all.push_back({"Add by distance, in self-attention", pen_.fill_of(BlockKind::RelativePositions)});
        }
        if (scaled()) {
            all.push_back({attention_.scale > 0.0 ? fmt::format("Scale by {:.4g}", attention_.scale)
                                                  : fmt::format("Scale by 1/\u221a{}", attention_.d_k),
                           pen_.fill_of(BlockKind::Norm)});
        }
        all.push_back({additive() ? "Sum of v tanh(Q + K)" : "MatMul", pen_.fill_of(BlockKind::Linear)});
        if (attention_.query_key_norm != QueryKeyNorm::None) {
            all.push_back({"Norm Q, K, in self-attention", pen_.fill_of(BlockKind::Norm)});
        }
        return all;
    }

    void up(double x, double from, double to) { pen_.path({{x, from}, {x, to}}, true); }
    void label(double x, double y, const char* text) {
        pen_.sketch().text({Role::Label}, pen_.ink().text, {x, y, 1.0, Anchor::Middle, false, false, text});
    }
    void title(double y, const std::string& text) {
        pen_.sketch().text({Role::Label}, pen_.ink().text, {middle_, y, 1.05, Anchor::Middle, false, true, text});
    }

    void box(Colour fill, const Rect& place, const std::string& what, const std::string& detail = "") {
        Mark mark{Role::Block};
        mark.tip = pen_.sketch().tips() ? what : "";
        pen_.box(mark, fill, place, what, detail);
    }

    // A box of each head, of which the first is in front.
    void stacked(Colour fill, const Rect& place, const std::string& what, const std::string& detail) {
        for (int i = kShadows; i > 0; --i) {
            Rect behind{place.x + i * kShadow, place.y - i * kShadow, place.width, place.height, 0.35};
            pen_.sketch().rect({Role::Frame}, fill, behind);
            behind.stroke = kBlockStroke;
            pen_.sketch().rect({Role::Frame}, pen_.ink().rule, behind);
        }
        box(fill, place, what, detail);
    }

    // The number of heads, beside the boxes of all.
    void bracket(const Rect& front) {
        const double x = front.x + front.width + 0.3;
        const double far = x + kShadows * kShadow;
        pen_.path({{x, front.y + front.height + 0.1},
                   {x + 0.3, front.y + front.height + 0.1},
                   {far + 0.3, front.y + front.height + 0.1 - kShadows * kShadow},
                   {far, front.y + front.height + 0.1 - kShadows * kShadow}},
                  false);
        pen_.sketch().text({Role::Label}, pen_.ink().text,
                           {far + 0.4, front.y + front.height + 0.9, 0.9, Anchor::Start, false, false,
                            fmt::format("h = {}", attention_.heads)});
    }

    ModelSketch& pen_;
    const AttentionConfig& attention_;
    const ModelConfig& config_;
    double left_;
    double middle_;
};

}  // namespace

Point draw_figure2(ModelSketch& pen, const ModelConfig& config, double left, double top) {
    Figure2 figure(pen, config, left);
    const double bottom = figure.multi_head(top + 1.0);
    return {left + kFigureWidth, figure.scores(bottom + 2.6)};
}

}  // namespace headscope

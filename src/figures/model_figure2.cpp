// Both halves of the paper's Figure 2.
#include <fmt/format.h>

#include "figures/model_sketch.h"
#include "model/family.h"

namespace headscope {

namespace {

const char* masked_by(const ModelConfig& config) {
    const FamilyTraits& family = traits(config.architecture);
    if (family.continues_text) {
        return "Mask (later tokens)";
    }
    return family.fills_masks || config.generation == Generation::MaskPredict ? "Mask (pads)" : "Mask (decoder; pads)";
}

}  // namespace

Point draw_figure2(ModelSketch& pen, const ModelConfig& config, double left, double top) {
    const double width = 17.0;
    const auto chain = [&](double x, double from, const std::string& title, const std::vector<std::string>& parts,
                           const std::string& below) {
        pen.sketch().text({Role::Label}, pen.ink().text,
                          {x + width / 2.0, from, 1.05, Anchor::Middle, false, true, title});
        double y = from + 1.1;
        for (const std::string& part : parts) {
            if (y > from + 1.2) {
                pen.path({{x + width / 2.0, y}, {x + width / 2.0, y - kBlockGap}}, true);
            }
            Mark mark{Role::Block};
            mark.layer = 0;
            mark.tip = pen.sketch().tips() ? part : "";
            pen.box(mark, BlockKind::Attention, {x, y, width, kLowBlock + 0.2}, part, "");
            y += kLowBlock + 0.2 + kBlockGap;
        }
        pen.path({{x + width / 2.0, y}, {x + width / 2.0, y - kBlockGap}}, true);
        pen.sketch().text({Role::Label}, pen.ink().text,
                          {x + width / 2.0, y + 1.0, 1.0, Anchor::Middle, false, false, below});
        return y + 1.2;
    };
    const bool additive = config.attention.score == AttentionScore::Additive;
    const bool scaled = config.attention.score == AttentionScore::ScaledDotProduct;
    const char* attention = additive ? "Additive Attention"
                            : scaled ? "Scaled Dot-Product Attention"
                                     : "Dot-Product Attention";
    const double bottom =
        chain(left, top + 1.0, "Multi-Head Attention",
              {fmt::format("Linear {} \u2192 {}", config.attention.heads * config.attention.d_v, config.d_model),
               fmt::format("Concat of {} heads", config.attention.heads),
               fmt::format("{} \u00d7 {}", config.attention.heads, attention),
               fmt::format("Linear {} \u2192 {} each", config.d_model, config.attention.heads * config.attention.d_k)},
              "V, K, Q");
    std::vector<std::string> steps{"MatMul with V", "SoftMax", masked_by(config)};
    if (config.positions.relative.kind != RelativePositions::None) {
        steps.emplace_back("Add by distance, in self-attention");
    }
    if (additive) {
        steps.emplace_back("Sum of v tanh(Q + K)");
    } else {
        if (scaled) {
            steps.push_back(fmt::format("Scale by 1/\u221a{}", config.attention.d_k));
        }
        steps.emplace_back("MatMul of Q and K");
    }
    return {left + width, chain(left, bottom + 2.6, attention, steps, "Q, K, V")};
}

}  // namespace headscope

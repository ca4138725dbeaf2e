#include "layout/model_map.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "drawing/text_width.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr double kMargin = 1.5;
constexpr double kBlock = 15.0;   // width
constexpr double kTall = 2.9;     // a block with a name and a line of detail
constexpr double kLow = 1.6;      // a block with a name alone
constexpr double kGap = 1.1;      // between blocks, for an arrow
constexpr double kPadding = 1.4;  // of a layer's box
constexpr double kStroke = 0.12;
constexpr double kSmall = 0.8;

// What stands in a column from below to above.
struct Part {
    ModelBlock block;
    std::string name;
    std::string detail;
    bool residual_from = false;  // the residual path leaves below this part
    bool residual_to = false;    // and comes back here
    double height() const { return detail.empty() ? kLow : kTall; }
};

// The paper's fills.
Colour fill_of(ModelBlock block, const Ink& ink) {
    Colour colour{0xf2, 0xf4, 0xc1};  // add and norm
    switch (block) {
        case ModelBlock::SourceEmbedding:
        case ModelBlock::TargetEmbedding: colour = {0xfc, 0xe0, 0xe1}; break;
        case ModelBlock::SourcePositions:
        case ModelBlock::TargetPositions: colour = {0xec, 0xec, 0xec}; break;
        case ModelBlock::EncoderSelfAttention:
        case ModelBlock::DecoderSelfAttention:
        case ModelBlock::CrossAttention:
        case ModelBlock::MultiHead:
        case ModelBlock::ScaledDotProduct: colour = {0xfe, 0xe1, 0xba}; break;
        case ModelBlock::EncoderFeedForward:
        case ModelBlock::DecoderFeedForward: colour = {0xc2, 0xe8, 0xf7}; break;
        case ModelBlock::Linear: colour = {0xdc, 0xdf, 0xef}; break;
        case ModelBlock::Softmax: colour = {0xcb, 0xe7, 0xcf}; break;
        default: break;
    }
    return ground_under_text(colour, ink);
}

class ModelMap {
public:
    ModelMap(const ModelConfig& config, const ModelMapOptions& options)
        : config_(config), options_(options), sketch_(options.look), ink_(options.look.ink) {
        HEADSCOPE_CHECK(options.encoder_layer >= 1 && options.encoder_layer <= config.encoder_layers &&
                            options.decoder_layer >= 1 && options.decoder_layer <= config.decoder_layers,
                        "the layers shown are of this model");
        encoder_ = stack({{ModelBlock::EncoderSelfAttention, ModelBlock::EncoderSelfNorm, "Multi-Head Attention"},
                          {ModelBlock::EncoderFeedForward, ModelBlock::EncoderFeedForwardNorm, "Feed Forward"}});
        decoder_ =
            stack({{ModelBlock::DecoderSelfAttention, ModelBlock::DecoderSelfNorm, "Masked Multi-Head Attention"},
                   {ModelBlock::CrossAttention, ModelBlock::CrossNorm, "Multi-Head Attention"},
                   {ModelBlock::DecoderFeedForward, ModelBlock::DecoderFeedForwardNorm, "Feed Forward"}});
        above_ = 3.0 * kGap + kTall + kLow + 1.4 + (pre() ? kLow + kGap : 0.0);
        const double tallest = std::max(height(encoder_) + 2.0 * kGap + kLow, height(decoder_) + above_);
        title_ = kMargin + 1.6 * kTitleSize + 1.4;
        box_bottom_ = title_ + tallest + 2.0 * kPadding;
        height_ = box_bottom_ + kGap + 1.6 + kGap + kTall + kGap + 1.4 + kMargin;
        encoder_x_ = kMargin + 4.0 + kPadding + kBlock / 2.0;
        decoder_x_ = encoder_x_ + kBlock + 2.0 * kPadding + 8.0;
    }

    Drawing draw() {
        const std::string title = fmt::format("{} parameters", with_thousands(count_parameters(config_)));
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title});
        const std::string detail =
            fmt::format("{} + {} layers, d_model {}, {} heads, {}-norm, {} positions", config_.encoder_layers,
                        config_.decoder_layers, config_.d_model, config_.heads, pre() ? "pre" : "post",
                        config_.positions == Positions::Learned ? "learned" : "sinusoidal");
        sketch_.text({Role::Note}, ink_.faint,
                     {kMargin, kMargin + 1.6 * kTitleSize + 0.6, 0.95, Anchor::Start, false, false, detail});
        const Column encoder = column(false);
        const Column decoder = column(true);
        memory(encoder, decoder);
        const double right = figure2(decoder_x_ + kBlock / 2.0 + kPadding + 8.0);
        return sketch_.finish(right + kMargin, height_, "Model", detail + ", " + title);
    }

private:
    struct SubLayer {
        ModelBlock block;
        ModelBlock norm;
        const char* name;
    };
    struct Column {
        double top = 0.0;    // where its stack's output leaves
        double cross = 0.0;  // the middle of its cross-attention
    };

    bool pre() const { return config_.norm == NormPlacement::Pre; }

    std::vector<Part> stack(const std::vector<SubLayer>& sub_layers) const {
        std::vector<Part> parts;
        for (const SubLayer& one : sub_layers) {
            Part part{one.block, one.name, detail_of(one.block)};
            if (pre()) {
                parts.push_back({one.norm, "Norm", "", true, false});
                parts.push_back(part);
                parts.push_back({one.norm, "Add", "", false, true});
            } else {
                part.residual_from = true;
                parts.push_back(part);
                parts.push_back({one.norm, "Add & Norm", "", false, true});
            }
        }
        return parts;
    }

    static double height(const std::vector<Part>& parts) {
        double sum = -kGap;
        for (const Part& part : parts) {
            sum += part.height() + kGap;
        }
        return sum;
    }

    std::string detail_of(ModelBlock block) const {
        const std::string count = with_thousands(parameters_of(config_, block, 1));
        switch (block) {
            case ModelBlock::EncoderFeedForward:
            case ModelBlock::DecoderFeedForward:
                return fmt::format("{} \u2192 {} \u2192 {}  \u00b7  {}", config_.d_model, with_thousands(config_.d_ff),
                                   config_.d_model, count);
            default:
                return config_.d_k == config_.d_v
                           ? fmt::format("{} heads of {}  \u00b7  {}", config_.heads, config_.d_k, count)
                           : fmt::format("{} heads of {}, {}  \u00b7  {}", config_.heads, config_.d_k, config_.d_v,
                                         count);
        }
    }

    void block(ModelBlock which, int layer, const Rect& place, const std::string& name, const std::string& detail) {
        Mark mark{Role::Block};
        mark.layer = layer;
        mark.item = static_cast<int>(which);
        if (sketch_.tips()) {
            const std::int64_t count = parameters_of(config_, which, std::max(layer, 1));
            mark.tip = fmt::format("{}{}{}", name, layer > 0 ? fmt::format(" of layer {}", layer) : "",
                                   count > 0 ? fmt::format(": {} parameters", with_thousands(count)) : "");
        }
        Rect shape = place;
        shape.radius = 0.35;
        sketch_.rect(mark, fill_of(which, ink_), shape);
        shape.stroke = kStroke;
        sketch_.rect(mark, ink_.off, shape);
        mark.tip.clear();
        mark.role = Role::Label;
        const Rect inside{place.x + 0.4, place.y, place.width - 0.8,
                          detail.empty() ? place.height : place.height * 0.6};
        sketch_.centred(mark, ink_.text, inside, place.height < kLow + 0.1 && place.width < kBlock ? 0.85 : 1.0, name);
        if (!detail.empty()) {
            mark.role = Role::Value;
            sketch_.centred(mark, ink_.text,
                            {inside.x, place.y + place.height * 0.48, inside.width, place.height * 0.46}, kSmall,
                            detail);
        }
    }

    void path(const std::vector<Point>& points, bool arrow) {
        for (std::size_t i = 0; i + 1 < points.size(); ++i) {
            const Point& a = points[i];
            const Point& b = points[i + 1];
            // Square corners: each piece reaches half a stroke further, but not into the arrow's point.
            const double last = i + 2 == points.size() ? (arrow ? -0.3 : 0.0) : kStroke / 2.0;
            const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
            const Point along{(b.x - a.x) / length, (b.y - a.y) / length};
            sketch_.line({Role::Edge}, ink_.faint, {a.x, a.y, b.x + along.x * last, b.y + along.y * last, kStroke});
        }
        if (arrow) {
            const Point& a = points[points.size() - 2];
            const Point& b = points.back();
            const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
            const Point along{(b.x - a.x) / length * 0.5, (b.y - a.y) / length * 0.5};
            sketch_.polygon({Role::Edge}, ink_.faint,
                            {b,
                             {b.x - along.x - along.y * 0.6, b.y - along.y + along.x * 0.6},
                             {b.x - along.x + along.y * 0.6, b.y - along.y - along.x * 0.6}});
        }
    }

    void note(double x, double y, const std::string& text, Anchor anchor = Anchor::Start) {
        sketch_.text({Role::Note}, ink_.faint, {x, y, kSmall, anchor, false, false, text});
    }

    Column column(bool decoder) {
        const double x = decoder ? decoder_x_ : encoder_x_;
        const double left = x - kBlock / 2.0;
        const std::vector<Part>& parts = decoder ? decoder_ : encoder_;
        const int layer = decoder ? options_.decoder_layer : options_.encoder_layer;
        const double inner = height(parts) + 2.0 * kPadding;
        const Rect box{left - kPadding, box_bottom_ - inner, kBlock + 2.0 * kPadding, inner, 0.8};
        inputs(decoder, x);
        sketch_.rect({Role::Frame}, ink_.surface, box);
        sketch_.rect({Role::Frame}, ink_.rule, {box.x, box.y, box.width, box.height, box.radius, kStroke});
        layers(decoder, box);
        Column found;
        double y = box_bottom_ - kPadding;
        double leaves = y;
        const double side = decoder ? left + kBlock + 0.8 : left - 0.8;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Part& part = parts[i];
            const double top = y - part.height();
            path({{x, i == 0 ? box_bottom_ : y + kGap}, {x, y}}, true);
            if (part.residual_from) {
                leaves = y + (i == 0 ? kPadding * 0.5 : kGap * 0.6);
            }
            if (part.residual_to) {
                const double middle = y - part.height() / 2.0;
                path({{x, leaves}, {side, leaves}, {side, middle}, {decoder ? left + kBlock : left, middle}}, true);
            }
            block(part.block, layer, {left, top, kBlock, part.height()}, part.name, part.detail);
            if (part.block == ModelBlock::CrossAttention) {
                found.cross = y - part.height() / 2.0;
            }
            y = top - kGap;
        }
        path({{x, y + kGap}, {x, box.y}}, false);
        y = box.y;
        if (pre()) {
            const double norm = box.y - kGap;
            path({{x, y}, {x, norm}}, true);
            block(decoder ? ModelBlock::DecoderNorm : ModelBlock::EncoderNorm, 0, {left, norm - kLow, kBlock, kLow},
                  "Norm", "");
            y = norm - kLow;
        }
        found.top = y;
        if (decoder) {
            outputs(x, y);
        }
        return found;
    }

    // The number of each layer beside its stack.
    void layers(bool decoder, const Rect& box) {
        const int count = decoder ? config_.decoder_layers : config_.encoder_layers;
        const int chosen = decoder ? options_.decoder_layer : options_.encoder_layer;
        const double pitch = std::min(1.9, (box.height - 3.0) / count);
        const double size = pitch * 0.86;
        const double x = decoder ? box.x + box.width + 1.6 : box.x - 1.6 - size;
        const double y = box.y + box.height / 2.0 + pitch * count / 2.0;
        for (int layer = 1; layer <= count; ++layer) {
            Mark mark{Role::Block};
            mark.layer = layer;
            mark.item = static_cast<int>(decoder ? ModelBlock::DecoderLayer : ModelBlock::EncoderLayer);
            if (sketch_.tips()) {
                mark.tip =
                    fmt::format("layer {} of the {}: {} parameters", layer, decoder ? "decoder" : "encoder",
                                with_thousands(parameters_of(
                                    config_, decoder ? ModelBlock::DecoderLayer : ModelBlock::EncoderLayer, layer)));
            }
            const Rect square{x, y - layer * pitch, size, size, 0.2 * size};
            sketch_.rect(mark, layer == chosen ? ink_.accent : ink_.surface, square);
            sketch_.rect(mark, layer == chosen ? ink_.accent : ink_.rule,
                         {square.x, square.y, size, size, 0.2 * size, kStroke});
            mark.tip.clear();
            mark.role = Role::Label;
            sketch_.centred(mark, layer == chosen ? text_colour_on(ink_.accent) : ink_.faint, square,
                            std::min(0.95, 0.6 * size), std::to_string(layer), layer == chosen);
        }
        sketch_.text({Role::Label}, ink_.text,
                     {x + size / 2.0, y - count * pitch - 0.6, 1.2, Anchor::Middle, false, true,
                      fmt::format("{}\u00d7", count)});
    }

    void inputs(bool decoder, double x) {
        const bool shared = decoder && config_.tying == Tying::All;
        const std::int64_t vocabulary = decoder ? config_.target_vocabulary : config_.source_vocabulary;
        const ModelBlock embedding = decoder ? ModelBlock::TargetEmbedding : ModelBlock::SourceEmbedding;
        const double plus = box_bottom_ + kGap + 0.8;
        const double top = plus + 0.8 + kGap;
        block(embedding, 0, {x - kBlock / 2.0, top, kBlock, kTall}, decoder ? "Output Embedding" : "Input Embedding",
              shared ? fmt::format("the same {} \u00d7 {}", with_thousands(vocabulary), config_.d_model)
                     : fmt::format("{} \u00d7 {}  \u00b7  {}", with_thousands(vocabulary), config_.d_model,
                                   with_thousands(parameters_of(config_, embedding, 0))));
        sketch_.text({Role::Label}, ink_.text,
                     {x, top + kTall + kGap + 1.1, 1.0, Anchor::Middle, false, false,
                      decoder ? "Outputs (shifted right)" : "Inputs"});
        path({{x, top + kTall + kGap}, {x, top + kTall}}, true);
        path({{x, top}, {x, plus + 0.65}}, true);
        path({{x, plus - 0.65}, {x, box_bottom_}}, false);
        sketch_.rect({Role::Edge}, ink_.paper, {x - 0.65, plus - 0.65, 1.3, 1.3, 0.65});
        sketch_.rect({Role::Edge}, ink_.faint, {x - 0.65, plus - 0.65, 1.3, 1.3, 0.65, kStroke});
        sketch_.line({Role::Edge}, ink_.faint, {x - 0.4, plus, x + 0.4, plus, kStroke});
        sketch_.line({Role::Edge}, ink_.faint, {x, plus - 0.4, x, plus + 0.4, kStroke});
        positions(decoder, x, plus);
        note(decoder ? x - 0.5 : x + 0.5, box_bottom_ + 0.95,
             fmt::format("[{}, {}]", decoder ? "target" : "source", config_.d_model),
             decoder ? Anchor::End : Anchor::Start);
    }

    void positions(bool decoder, double x, double y) {
        const double width = 8.8;
        const double left = decoder ? x + 2.2 : x - 2.2 - width;
        block(decoder ? ModelBlock::TargetPositions : ModelBlock::SourcePositions, 0, {left, y - 0.8, width, 1.6},
              config_.positions == Positions::Learned ? "Learned Positions" : "Positional Encoding", "");
        path({{decoder ? left : left + width, y}, {decoder ? x + 0.65 : x - 0.65, y}}, true);
    }

    void outputs(double x, double y) {
        const double left = x - kBlock / 2.0;
        const bool tied = config_.tying != Tying::None;
        const double linear = y - kGap;
        path({{x, y}, {x, linear}}, true);
        block(ModelBlock::Linear, 0, {left, linear - kTall, kBlock, kTall}, "Linear",
              tied ? fmt::format("{} \u2192 {}  \u00b7  the embedding", config_.d_model,
                                 with_thousands(config_.target_vocabulary))
                   : fmt::format("{} \u2192 {}  \u00b7  {}", config_.d_model, with_thousands(config_.target_vocabulary),
                                 with_thousands(parameters_of(config_, ModelBlock::Linear, 0))));
        const double softmax = linear - kTall - kGap;
        path({{x, linear - kTall}, {x, softmax}}, true);
        block(ModelBlock::Softmax, 0, {left, softmax - kLow, kBlock, kLow}, "Softmax", "");
        path({{x, softmax - kLow}, {x, softmax - kLow - kGap}}, true);
        sketch_.text({Role::Label}, ink_.text,
                     {x, softmax - kLow - kGap - 0.4, 1.0, Anchor::Middle, false, false, "Output Probabilities"});
    }

    // What the encoder found goes to every layer's cross-attention as its keys and values.
    void memory(const Column& encoder, const Column& decoder) {
        const double between = (encoder_x_ + decoder_x_) / 2.0;
        const double up = encoder.top - kGap;
        path({{encoder_x_, encoder.top},
              {encoder_x_, up},
              {between, up},
              {between, decoder.cross},
              {decoder_x_ - kBlock / 2.0, decoder.cross}},
             true);
        note(encoder_x_ + 0.5, up - 0.4, fmt::format("[source, {}]: keys and values", config_.d_model));
    }

    // Figure 2 with this model's numbers. Returns its right edge.
    double figure2(double left) {
        const double width = 17.0;
        const auto chain = [&](double x, double top, ModelBlock which, const std::string& title,
                               const std::vector<std::string>& parts, const std::string& below) {
            sketch_.text({Role::Label}, ink_.text, {x + width / 2.0, top, 1.05, Anchor::Middle, false, true, title});
            double y = top + 1.1;
            for (const std::string& part : parts) {
                if (y > top + 1.2) {
                    path({{x + width / 2.0, y}, {x + width / 2.0, y - kGap}}, true);
                }
                block(which, 0, {x, y, width, kLow + 0.2}, part, "");
                y += kLow + 0.2 + kGap;
            }
            path({{x + width / 2.0, y}, {x + width / 2.0, y - kGap}}, true);
            sketch_.text({Role::Label}, ink_.text,
                         {x + width / 2.0, y + 1.0, 1.0, Anchor::Middle, false, false, below});
            return y + 1.2;
        };
        const double bottom =
            chain(left, title_ + 1.0, ModelBlock::MultiHead, "Multi-Head Attention",
                  {fmt::format("Linear {} \u2192 {}", config_.heads * config_.d_v, config_.d_model),
                   fmt::format("Concat of {} heads", config_.heads),
                   fmt::format("{} \u00d7 Scaled Dot-Product Attention", config_.heads),
                   fmt::format("Linear {} \u2192 {} each", config_.d_model, config_.heads * config_.d_k)},
                  "V, K, Q");
        chain(left, bottom + 2.6, ModelBlock::ScaledDotProduct, "Scaled Dot-Product Attention",
              {"MatMul with V", "SoftMax", "Mask (decoder; pads)", fmt::format("Scale by 1/\u221a{}", config_.d_k),
               "MatMul of Q and K"},
              "Q, K, V");
        return left + width;
    }

    const ModelConfig& config_;
    const ModelMapOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    std::vector<Part> encoder_;
    std::vector<Part> decoder_;
    double above_ = 0.0;  // what stands above the decoder's box
    double title_ = 0.0;
    double box_bottom_ = 0.0;
    double height_ = 0.0;
    double encoder_x_ = 0.0;
    double decoder_x_ = 0.0;
};

}  // namespace

Drawing draw_model_map(const ModelConfig& config, const ModelMapOptions& options) {
    return ModelMap(config, options).draw();
}

}  // namespace headscope

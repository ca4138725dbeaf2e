#include "figures/model_map.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "figures/model_sketch.h"
#include "support/check.h"

namespace headscope {

namespace {

using namespace model_sketch;

constexpr double kMargin = 1.5;
constexpr double kPadding = 1.4;  // of a layer's box

// The parts of a column, from bottom to top.
struct Part {
    const Block& block;
    std::string name;
    std::string detail;
    bool residual_from = false;  // the residual path leaves below this part
    bool residual_to = false;    // and returns here
    double height() const { return detail.empty() ? kLow : kTall; }
};

class ModelMap {
public:
    ModelMap(const ModelConfig& config, const ModelMapOptions& options)
        : config_(config),
          options_(options),
          pen_(config, options.look),
          blocks_(pen_.model().blocks),
          sketch_(pen_.sketch()),
          ink_(options.look.ink) {
        HEADSCOPE_CHECK(options.encoder_layer >= 1 && options.encoder_layer <= config.encoder_layers &&
                            options.decoder_layer >= 1 && options.decoder_layer <= config.decoder_layers,
                        "the layers shown are of this model");
        encoder_ = stack("encoder", options.encoder_layer);
        decoder_ = stack("decoder", options.decoder_layer);
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
        const double right = draw_figure2(pen_, config_, decoder_x_ + kBlock / 2.0 + kPadding + 8.0, title_);
        return sketch_.finish(right + kMargin, height_, "Model", detail + ", " + title);
    }

private:
    struct Column {
        double top = 0.0;    // where its stack's output leaves
        double cross = 0.0;  // the middle of its cross-attention
    };

    bool pre() const { return config_.norm == NormPlacement::Pre; }

    const Block& block_at(const std::string& prefix, BlockKind kind) const {
        const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
            return block.prefix == prefix && block.kind == kind;
        });
        HEADSCOPE_CHECK(found != blocks_.end(), "the model has no block " + prefix);
        return *found;
    }

    // The first block of this kind, or a later one.
    const Block& block_of(BlockKind kind, int index) const {
        for (const Block& block : blocks_) {
            if (block.kind == kind && index-- == 0) {
                return block;
            }
        }
        HEADSCOPE_CHECK(false, "the model lacks a block of the map");
    }

    // The sub-layers of a layer and their norms.
    std::vector<Part> stack(const char* name, int layer) const {
        const std::string prefix = fmt::format("{}.layers.{}.", name, layer - 1);
        std::vector<Part> parts;
        for (const Block& block : blocks_) {
            if (!block.prefix.starts_with(prefix) || block.kind == BlockKind::Layer || block.kind == BlockKind::Norm) {
                continue;
            }
            const Block& norm = block_at(block.prefix + "norm.", BlockKind::Norm);
            if (pre()) {
                parts.push_back({norm, norm.title, "", true, false});
            }
            parts.push_back({block, block.title, detail_of(block), !pre(), false});
            parts.push_back({norm, pre() ? "Add" : "Add & " + norm.title, "", false, true});
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

    static std::string detail_of(const Block& block) {
        return block.shared ? block.detail
                            : fmt::format("{}  \u00b7  {}", block.detail, with_thousands(block.parameters));
    }

    Column column(bool decoder) {
        const double x = decoder ? decoder_x_ : encoder_x_;
        const double left = x - kBlock / 2.0;
        const std::vector<Part>& parts = decoder ? decoder_ : encoder_;
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
            pen_.path({{x, i == 0 ? box_bottom_ : y + kGap}, {x, y}}, true);
            if (part.residual_from) {
                leaves = y + (i == 0 ? kPadding * 0.5 : kGap * 0.6);
            }
            if (part.residual_to) {
                const double middle = y - part.height() / 2.0;
                pen_.path({{x, leaves}, {side, leaves}, {side, middle}, {decoder ? left + kBlock : left, middle}},
                          true);
            }
            pen_.block(part.block, {left, top, kBlock, part.height()}, part.name, part.detail);
            if (part.block.attention == AttentionKind::Cross) {
                found.cross = y - part.height() / 2.0;
            }
            y = top - kGap;
        }
        pen_.path({{x, y + kGap}, {x, box.y}}, false);
        y = box.y;
        if (pre()) {
            const double norm = box.y - kGap;
            pen_.path({{x, y}, {x, norm}}, true);
            const Block& last = block_at(decoder ? "decoder.norm." : "encoder.norm.", BlockKind::Norm);
            pen_.block(last, {left, norm - kLow, kBlock, kLow}, last.title, "");
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
        const char* stack = decoder ? "decoder" : "encoder";
        const int count = decoder ? config_.decoder_layers : config_.encoder_layers;
        const int chosen = decoder ? options_.decoder_layer : options_.encoder_layer;
        const double pitch = std::min(1.9, (box.height - 3.0) / count);
        const double size = pitch * 0.86;
        const double x = decoder ? box.x + box.width + 1.6 : box.x - 1.6 - size;
        const double y = box.y + box.height / 2.0 + pitch * count / 2.0;
        for (int layer = 1; layer <= count; ++layer) {
            const Block& whole = block_at(fmt::format("{}.layers.{}.", stack, layer - 1), BlockKind::Layer);
            Mark mark{Role::Block};
            mark.layer = layer;
            mark.item = pen_.index_of(whole);
            if (sketch_.tips()) {
                mark.tip = fmt::format("layer {} of the {}: {} parameters", layer, stack,
                                       with_thousands(parameters_under(pen_.model(), whole.prefix)));
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
        const double plus = box_bottom_ + kGap + 0.8;
        const double top = plus + 0.8 + kGap;
        const Block& embedding = block_of(BlockKind::Embedding, decoder ? 1 : 0);
        pen_.block(embedding, {x - kBlock / 2.0, top, kBlock, kTall}, embedding.title, detail_of(embedding));
        sketch_.text({Role::Label}, ink_.text,
                     {x, top + kTall + kGap + 1.1, 1.0, Anchor::Middle, false, false,
                      decoder ? "Outputs (shifted right)" : "Inputs"});
        pen_.path({{x, top + kTall + kGap}, {x, top + kTall}}, true);
        pen_.path({{x, top}, {x, plus + 0.65}}, true);
        pen_.path({{x, plus - 0.65}, {x, box_bottom_}}, false);
        sketch_.rect({Role::Edge}, ink_.paper, {x - 0.65, plus - 0.65, 1.3, 1.3, 0.65});
        sketch_.rect({Role::Edge}, ink_.faint, {x - 0.65, plus - 0.65, 1.3, 1.3, 0.65, kStroke});
        sketch_.line({Role::Edge}, ink_.faint, {x - 0.4, plus, x + 0.4, plus, kStroke});
        sketch_.line({Role::Edge}, ink_.faint, {x, plus - 0.4, x, plus + 0.4, kStroke});
        positions(decoder, x, plus);
        pen_.note(decoder ? x - 0.5 : x + 0.5, box_bottom_ + 0.95,
                  fmt::format("[{}, {}]", decoder ? "target" : "source", config_.d_model),
                  decoder ? Anchor::End : Anchor::Start);
    }

    void positions(bool decoder, double x, double y) {
        const double width = 8.8;
        const double left = decoder ? x + 2.2 : x - 2.2 - width;
        const Block& block = block_of(BlockKind::Positions, decoder ? 1 : 0);
        pen_.block(block, {left, y - 0.8, width, 1.6}, block.title, "");
        pen_.path({{decoder ? left : left + width, y}, {decoder ? x + 0.65 : x - 0.65, y}}, true);
    }

    void outputs(double x, double y) {
        const double left = x - kBlock / 2.0;
        const double linear = y - kGap;
        const Block& projection = block_of(BlockKind::Linear, 0);
        pen_.path({{x, y}, {x, linear}}, true);
        pen_.block(projection, {left, linear - kTall, kBlock, kTall}, projection.title, detail_of(projection));
        const double softmax = linear - kTall - kGap;
        pen_.path({{x, linear - kTall}, {x, softmax}}, true);
        const Block& last = block_of(BlockKind::Softmax, 0);
        pen_.block(last, {left, softmax - kLow, kBlock, kLow}, last.title, "");
        pen_.path({{x, softmax - kLow}, {x, softmax - kLow - kGap}}, true);
        sketch_.text({Role::Label}, ink_.text,
                     {x, softmax - kLow - kGap - 0.4, 1.0, Anchor::Middle, false, false, "Output Probabilities"});
    }

    // The encoder's output is the keys and values of every cross-attention.
    void memory(const Column& encoder, const Column& decoder) {
        const double between = (encoder_x_ + decoder_x_) / 2.0;
        const double up = encoder.top - kGap;
        pen_.path({{encoder_x_, encoder.top},
                   {encoder_x_, up},
                   {between, up},
                   {between, decoder.cross},
                   {decoder_x_ - kBlock / 2.0, decoder.cross}},
                  true);
        pen_.note(encoder_x_ + 0.5, up - 0.4, fmt::format("[source, {}]: keys and values", config_.d_model));
    }

    const ModelConfig& config_;
    const ModelMapOptions& options_;
    ModelSketch pen_;
    const std::vector<Block>& blocks_;
    Sketch& sketch_;
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

std::string with_thousands(std::int64_t number) {
    return fmt::format("{}", fmt::group_digits(number));
}

}  // namespace headscope

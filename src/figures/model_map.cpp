#include "figures/model_map.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "figures/model_column.h"
#include "figures/model_sketch.h"
#include "model/family.h"
#include "model/model_directory.h"
#include "paint/text_width.h"
#include "support/counted.h"

namespace headscope {

namespace {

constexpr double kMapMargin = 1.5;
constexpr double kDetail = 0.95;       // the size of the line below the title
constexpr double kNumbers = 4.0;       // room for the numbers of layers to the left of a column
constexpr double kColumnsApart = 8.0;  // to the right of a column

std::vector<ColumnPlan> plans(const ModelConfig& config, const ModelMapOptions& options) {
    if (!has_encoder(config)) {
        return {{.stack = "decoder",
                 .inputs = "Inputs",
                 .tokens = "tokens",
                 .mirrored = true,
                 .writes = true,
                 .layers = config.decoder_layers,
                 .chosen = options.decoder_layer}};
    }
    if (!has_decoder(config)) {
        return {{.stack = "encoder",
                 .inputs = "Inputs",
                 .tokens = "tokens",
                 .writes = true,
                 .layers = config.encoder_layers,
                 .chosen = options.encoder_layer}};
    }
    return {{.stack = "encoder",
             .inputs = "Inputs",
             .tokens = "source",
             .layers = config.encoder_layers,
             .chosen = options.encoder_layer},
            {.stack = "decoder",
             .inputs = config.generation == Generation::MaskPredict ? "Outputs (masked)" : "Outputs (shifted right)",
             .tokens = "target",
             .index = 1,
             .mirrored = true,
             .writes = true,
             .layers = config.decoder_layers,
             .chosen = options.decoder_layer}};
}

// Those that embeddings or scores have; "" if they have none.
const char* kind_of_added_positions(const ModelConfig& config) {
    if (config.positions.relative.kind != RelativePositions::None) {
        return "relative";
    }
    switch (config.positions.kind) {
        case Positions::Sinusoid: return "sinusoidal";
        case Positions::Learned: return "learned";
        case Positions::Index: return "numbered";
        case Positions::Normalised: return "normalised";
        case Positions::None: break;
    }
    return "";
}

std::string kind_of_positions(const ModelConfig& config) {
    const std::string added = kind_of_added_positions(config);
    const bool turns = config.positions.rotary.kind != Rotary::None;
    return added.empty() ? (turns ? "rotary" : "no") : added + (turns ? " and rotary" : "");
}

std::string heads_of(const AttentionConfig& attention) {
    const std::string heads = both_stacks(attention.heads, attention.decoder_heads);
    return attention.kv_heads == 0 ? heads + " heads"
                                   : fmt::format("{} heads in {}", heads, counted(attention.kv_heads, "group"));
}

// "pre-norm"
std::string norms_of(const NormConfig& norm) {
    constexpr std::array kNames = {"post", "pre", "sandwich", "inside"};
    return fmt::format("{}-norm{}", kNames[static_cast<std::size_t>(norm.placement)],
                       norm.parallel == ParallelLayers::None ? "" : " in parallel");
}

std::string model_detail(const ModelConfig& config) {
    const std::string layers = has_encoder(config) && has_decoder(config)
                                   ? fmt::format("{} + {} layers", config.encoder_layers, config.decoder_layers)
                                   : fmt::format("{}: {}", name_of(config.architecture),
                                                 counted(config.encoder_layers + config.decoder_layers, "layer"));
    return fmt::format("{}{}, d_model {}, {}, {}, {} positions", layers,
                       config.generation == Generation::MaskPredict ? ", mask-predict" : "", config.d_model,
                       heads_of(config.attention), norms_of(config.norm), kind_of_positions(config));
}

// The encoder's output is the keys and values of every cross-attention, or the first states of recurrent layers.
void draw_memory(ModelSketch& pen, const ModelConfig& config, const ModelColumn& encoder, const ModelColumn& decoder) {
    const double between = (encoder.x() + decoder.x()) / 2.0;
    const double up = encoder.top() - kBlockGap;
    std::vector<Point> way{{encoder.x(), encoder.top()}, {encoder.x(), up}, {between, up}, {between, decoder.cross()}};
    if (config.attention.cross) {
        const double block = decoder.cross() - ModelColumn::kFork;
        const double values = decoder.x() - ModelColumn::kArm;
        way.insert(way.end(), {{values, decoder.cross()}, {values, block}});
        pen.path({{values, decoder.cross()}, {decoder.x(), decoder.cross()}, {decoder.x(), block}}, true);
    } else {
        way.push_back({decoder.x() - kBlockWidth / 2.0, decoder.cross()});
    }
    pen.path(way, true);
    pen.note(
        encoder.x() + 0.5, up - 0.4,
        config.attention.cross
            ? fmt::format("[source, {}]: keys and values", config.d_model)
            : fmt::format("[{}, {}]: the last states",
                          config.encoder_layers * (config.mixer.encoder == MixerKind::Lstm ? 2 : 1), config.d_model));
}

}  // namespace

Drawing draw_model_map(const ModelConfig& config, const ModelMapOptions& options) {
    ModelSketch pen(config, options.look);
    Sketch& sketch = pen.sketch();
    std::vector<ModelColumn> columns;
    double tallest = 0.0;
    for (const ColumnPlan& plan : plans(config, options)) {
        columns.emplace_back(pen, config, plan);
        tallest = std::max(tallest, columns.back().height());
    }
    const std::string title = fmt::format("{} parameters", with_thousands(count_parameters(config)));
    const std::string detail = model_detail(config);
    sketch.text({Role::Title}, pen.ink().text,
                {kMapMargin, kMapMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title});
    sketch.text({Role::Note}, pen.ink().faint,
                {kMapMargin, kMapMargin + 1.6 * kTitleSize + 0.6, kDetail, Anchor::Start, false, false, detail});
    const double top = kMapMargin + 1.6 * kTitleSize + 1.4;
    const double bottom = top + tallest;
    double left = kMapMargin;
    for (ModelColumn& column : columns) {
        const double x = left + (column.plan().mirrored ? 0.0 : kNumbers) + ModelColumn::kPadding + kBlockWidth / 2.0;
        column.draw(x, bottom);
        left = x + kBlockWidth / 2.0 + ModelColumn::kPadding + kColumnsApart;
    }
    if (columns.size() == 2) {
        draw_memory(pen, config, columns[0], columns[1]);
    }
    const double foot = bottom + ModelColumn::height_below(config);
    const Point corner = options.narrow ? draw_figure2(pen, config, kMapMargin, foot + kColumnsApart)
                                        : draw_figure2(pen, config, left, top);
    const double height = std::max(foot, corner.y) + kMapMargin;
    const double widest = std::max(corner.x, kMapMargin + kDetail * text_width(detail));
    const double width = std::max(widest, options.narrow ? left - kColumnsApart + kNumbers : 0.0) + kMapMargin;
    return sketch.finish(width, height, "Model", detail + ", " + title);
}

std::string with_thousands(std::int64_t number) {
    return fmt::format("{}", fmt::group_digits(number));
}

}  // namespace headscope

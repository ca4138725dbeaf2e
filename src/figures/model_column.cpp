#include "figures/model_column.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

std::string block_detail(const Block& block) {
    return block.shared ? block.detail : fmt::format("{}  \u00b7  {}", block.detail, with_thousands(block.parameters));
}

}  // namespace

double ModelColumn::Part::height() const {
    return detail.empty() ? kLowBlock : kTallBlock;
}

ModelColumn::ModelColumn(ModelSketch& pen, const ModelConfig& config, ColumnPlan plan)
    : pen_(pen), sketch_(pen.sketch()), ink_(pen.ink()), config_(config), plan_(std::move(plan)) {
    HEADSCOPE_CHECK(plan_.chosen >= 1 && plan_.chosen <= plan_.layers, "the layer shown is of this model");
    parts_ = parts();
}

double ModelColumn::height() const {
    if (!plan_.writes) {
        return box_height() + kBlockGap + kLowBlock + kBlockGap;
    }
    const double transform =
        config_.output.transform != OutputTransform::None ? kTallBlock + kLowBlock + 2.0 * kBlockGap : 0.0;
    const double softmax = traits(config_.architecture).writes_pieces ? kLowBlock + kBlockGap : 0.0;
    return box_height() + 2.0 * kBlockGap + kTallBlock + softmax + 1.4 +
           (config_.norm.of_stack() ? kLowBlock + kBlockGap : 0.0) + transform;
}

double ModelColumn::height_below(const ModelConfig& config) {
    return kBlockGap + 1.6 + kBlockGap + kTallBlock + kBlockGap + 1.4 +
           (config.embedding.norm != EmbeddingNorm::None ? kLowBlock + kBlockGap : 0.0);
}

const Block& ModelColumn::block_at(const std::string& prefix, BlockKind kind) const {
    const auto& blocks = pen_.model().blocks;
    const auto found = std::find_if(blocks.begin(), blocks.end(),
                                    [&](const Block& block) { return block.prefix == prefix && block.kind == kind; });
    HEADSCOPE_CHECK(found != blocks.end(), "the model has no block " + prefix);
    return *found;
}

// The first block of this kind, or a later one.
const Block& ModelColumn::block_of(BlockKind kind, int index) const {
    for (const Block& block : pen_.model().blocks) {
        if (block.kind == kind && index-- == 0) {
            return block;
        }
    }
    HEADSCOPE_CHECK(false, "the model lacks a block of the map");
}

// The sub-layers of the layer shown, and their norms.
std::vector<ModelColumn::Part> ModelColumn::parts() const {
    const std::string prefix = fmt::format("{}.layers.{}.", plan_.stack, plan_.chosen - 1);
    std::vector<Part> found;
    for (const Block& block : pen_.model().blocks) {
        if (!block.prefix.starts_with(prefix) || block.kind == BlockKind::Layer || block.kind == BlockKind::Norm ||
            block.kind == BlockKind::RelativePositions) {
            continue;
        }
        const bool ends = !config_.attention.cross && plan_.stack == std::string("encoder") &&
                          plan_.chosen == plan_.layers;  // it hands its state over, and adds nothing
        add_sublayer(block, ends, found);
    }
    return found;
}

void ModelColumn::add_sublayer(const Block& block, bool ends, std::vector<Part>& found) const {
    const NormConfig& config = config_.norm;
    const bool reads_same = !found.empty() && found.back().passes_by;
    if (reads_same && config.parallel == ParallelLayers::OneNorm) {
        const Block& norm = found.front().block;
        found.push_back({.block = block, .name = block.title, .detail = block_detail(block), .reads_same = true});
        found.push_back({.block = norm, .name = "Add", .residual_to = true});
        return;
    }
    if (ends && !config.of_inputs()) {
        found.push_back({.block = block, .name = block.title, .detail = block_detail(block)});
        return;
    }
    const Block& norm = block_at(block.prefix + "norm.", BlockKind::Norm);
    if (config.of_inputs()) {
        found.push_back(
            {.block = norm, .name = norm.title, .residual_from = !ends && !reads_same, .reads_same = reads_same});
    }
    found.push_back({.block = block,
                     .name = block.title,
                     .detail = block_detail(block),
                     .residual_from = !config.of_inputs(),
                     .passes_by = config.parallel != ParallelLayers::None && !reads_same});
    if (ends || found.back().passes_by) {
        return;
    }
    if (config.of_outputs()) {
        const bool own = config.placement == NormPlacement::Sandwich;
        const Block& last = own ? block_at(block.prefix + "output_norm.", BlockKind::Norm) : norm;
        found.push_back({.block = last, .name = last.title});
    }
    const bool normed = config.placement == NormPlacement::Post;
    found.push_back({.block = norm, .name = normed ? "Add & " + norm.title : "Add", .residual_to = true});
}

// Three arrows need more room than one.
double ModelColumn::gap_below(std::size_t part) const {
    const double padding = part == 0 ? kPadding - kBlockGap : parts_[part].reads_same ? kBlockGap : 0.0;
    return padding + (parts_[part].block.kind == BlockKind::Attention ? 2.2 : kBlockGap);
}

double ModelColumn::box_height() const {
    double sum = kPadding;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        sum += gap_below(i) + parts_[i].height();
    }
    return sum;
}

void ModelColumn::draw(double x, double bottom) {
    x_ = x;
    const double inner = box_height();
    const Rect box{x - kBlockWidth / 2.0 - kPadding, bottom - inner, kBlockWidth + 2.0 * kPadding, inner, 0.8};
    inputs(bottom);
    sketch_.rect({Role::Frame}, ink_.surface, box);
    sketch_.rect({Role::Frame}, ink_.rule, {box.x, box.y, box.width, box.height, box.radius, kBlockStroke});
    layer_numbers(box);
    draw_parts(box);
    top_ = box.y;
    if (config_.norm.of_stack() && (config_.attention.cross || plan_.writes)) {
        stack_on(block_at(plan_.stack + ".norm.", BlockKind::Norm), false);
    }
    if (plan_.writes) {
        outputs();
    }
}

double ModelColumn::edge(bool of_residual, double away) const {
    return of_residual == plan_.mirrored ? x_ + kBlockWidth / 2.0 + away : x_ - kBlockWidth / 2.0 - away;
}

void ModelColumn::draw_parts(const Rect& box) {
    const double left = x_ - kBlockWidth / 2.0;
    double below = box.y + box.height;  // the top of what is drawn so far
    Begins begins{.residual = below};
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = parts_[i];
        const double y = below - gap_below(i);
        const double middle = y - part.height() / 2.0;
        if (part.reads_same) {
            begins.given = below;
            arrow_beside(begins, y);
        } else {
            begins.read = part.passes_by ? below - kBlockGap * 0.4 : begins.read;
            arrows_into(part, below, y);
        }
        if (part.residual_from) {
            begins.residual = below - (i == 0 ? kPadding * 0.5 : kBlockGap * 0.4);
        }
        if (part.residual_to) {
            lines_to_sum(begins, middle);
        }
        pen_.block(part.block, {left, y - part.height(), kBlockWidth, part.height()}, part.name, part.detail);
        if (part.block.attention == AttentionKind::Cross) {
            cross_ = y + kFork;
        } else if (part.block.kind == BlockKind::Recurrent) {
            cross_ = middle;
        }
        below = y - part.height();
    }
    pen_.path({{x_, below}, {x_, box.y}}, false);
}

// The residual path, and beside the second of two parallel sub-layers what the first gives.
void ModelColumn::lines_to_sum(const Begins& begins, double middle) {
    const double side = edge(true, 0.8);
    pen_.path({{x_, begins.residual}, {side, begins.residual}, {side, middle}, {edge(true), middle}}, true);
    if (begins.given > 0.0) {
        const double turn = begins.given - kBlockGap * 0.6;
        const double other = edge(false, 0.8);
        pen_.path({{x_, begins.given}, {x_, turn}, {other, turn}, {other, middle}, {edge(false), middle}}, true);
    }
}

// Into the second of two parallel sub-layers, or its norm: from the residual path, or from the norm of the first.
void ModelColumn::arrow_beside(const Begins& begins, double to) {
    const bool one_norm = config_.norm.parallel == ParallelLayers::OneNorm;
    const double side = edge(true, one_norm ? 0.4 : 0.8);
    const double turn = to + kBlockGap * 0.7;
    std::vector<Point> way{{side, turn}, {x_, turn}, {x_, to}};
    if (one_norm) {
        way.insert(way.begin(), {{x_, begins.read}, {side, begins.read}});
    }
    pen_.path(way, true);
}

// Keys, values and queries enter an attention by an arrow each. In cross-attention only the queries come from below,
// and draw_memory() adds the others.
void ModelColumn::arrows_into(const Part& part, double from, double to) {
    if (part.block.kind != BlockKind::Attention) {
        pen_.path({{x_, from}, {x_, to}}, true);
        return;
    }
    if (part.block.attention == AttentionKind::Cross) {
        const double turn = to + 2.0 * kFork;
        pen_.path({{x_, from}, {x_, turn}, {x_ + kArm, turn}, {x_ + kArm, to}}, true);
        return;
    }
    const double fork = to + kFork;
    pen_.path({{x_, from}, {x_, to}}, true);
    for (const double arm : {-kArm, kArm}) {
        pen_.path({{x_, fork}, {x_ + arm, fork}, {x_ + arm, to}}, true);
    }
}

// The number of each layer beside its stack.
void ModelColumn::layer_numbers(const Rect& box) {
    const double pitch = std::min(1.9, (box.height - 3.0) / plan_.layers);
    const double size = pitch * 0.86;
    const double x = plan_.mirrored ? box.x + box.width + 1.6 : box.x - 1.6 - size;
    const double y = box.y + box.height / 2.0 + pitch * plan_.layers / 2.0;
    for (int layer = 1; layer <= plan_.layers; ++layer) {
        const bool chosen = layer == plan_.chosen;
        const Block& whole = block_at(fmt::format("{}.layers.{}.", plan_.stack, layer - 1), BlockKind::Layer);
        Mark mark{Role::Block};
        mark.layer = layer;
        mark.item = pen_.index_of(whole);
        if (sketch_.tips()) {
            mark.tip = fmt::format("layer {} of the {}: {} parameters", layer, plan_.stack,
                                   with_thousands(parameters_under(pen_.model(), whole.prefix)));
        }
        const Rect square{x, y - layer * pitch, size, size, 0.2 * size};
        sketch_.rect(mark, chosen ? ink_.accent : ink_.surface, square);
        sketch_.rect(mark, chosen ? ink_.accent : ink_.rule,
                     {square.x, square.y, size, size, 0.2 * size, kBlockStroke});
        mark.tip.clear();
        mark.role = Role::Label;
        sketch_.centred(mark, chosen ? text_colour_on(ink_.accent) : ink_.faint, square, std::min(0.95, 0.6 * size),
                        std::to_string(layer), chosen);
    }
    sketch_.text({Role::Label}, ink_.text,
                 {x + size / 2.0, y - plan_.layers * pitch - 0.6, 1.2, Anchor::Middle, false, true,
                  fmt::format("{}\u00d7", plan_.layers)});
}

// The embedding, the positions and their sum, below the box.
void ModelColumn::inputs(double bottom) {
    const double y_of_plus =
        bottom + kBlockGap + 0.8 + (config_.embedding.norm != EmbeddingNorm::None ? kLowBlock + kBlockGap : 0.0);
    const double top = y_of_plus + 0.8 + kBlockGap;
    const Block& embedding = block_of(BlockKind::Embedding, plan_.index);
    pen_.block(embedding, {x_ - kBlockWidth / 2.0, top, kBlockWidth, kTallBlock}, embedding.title,
               block_detail(embedding));
    sketch_.text({Role::Label}, ink_.text,
                 {x_, top + kTallBlock + kBlockGap + 1.1, 1.0, Anchor::Middle, false, false, plan_.inputs});
    pen_.path({{x_, top + kTallBlock + kBlockGap}, {x_, top + kTallBlock}}, true);
    const bool adds = config_.positions.kind != Positions::None;
    if (adds) {
        pen_.path({{x_, top}, {x_, y_of_plus + 0.65}}, true);
    }
    double y = adds ? y_of_plus - 0.65 : top;
    if (config_.embedding.norm != EmbeddingNorm::None) {
        const Block& norm = block_at(plan_.stack + ".embedding_norm.", BlockKind::Norm);
        const double above = y_of_plus - 0.8 - kBlockGap;
        pen_.path({{x_, y}, {x_, above}}, true);
        pen_.block(norm, {x_ - kBlockWidth / 2.0, above - kLowBlock, kBlockWidth, kLowBlock}, norm.title, "");
        y = above - kLowBlock;
    }
    pen_.path({{x_, y}, {x_, bottom}}, false);
    if (adds) {
        plus(y_of_plus);
        positions(y_of_plus);
    }
    if (config_.positions.relative.kind != RelativePositions::None) {
        relative_positions(y_of_plus, bottom);
    }
    pen_.note(plan_.mirrored ? x_ - 0.5 : x_ + 0.5, bottom + 0.95,
              fmt::format("[{}, {}]", plan_.tokens, config_.d_model), plan_.mirrored ? Anchor::End : Anchor::Start);
}

void ModelColumn::plus(double y) {
    sketch_.rect({Role::Edge}, ink_.paper, {x_ - 0.65, y - 0.65, 1.3, 1.3, 0.65});
    sketch_.rect({Role::Edge}, ink_.faint, {x_ - 0.65, y - 0.65, 1.3, 1.3, 0.65, kBlockStroke});
    sketch_.line({Role::Edge}, ink_.faint, {x_ - 0.4, y, x_ + 0.4, y, kBlockStroke});
    sketch_.line({Role::Edge}, ink_.faint, {x_, y - 0.4, x_, y + 0.4, kBlockStroke});
}

// On the other side of the positions: into the layers, not into the sum.
void ModelColumn::relative_positions(double y, double bottom) {
    const double width = 8.8;
    const double middle = plan_.mirrored ? x_ - 2.2 - width / 2.0 : x_ + 2.2 + width / 2.0;
    const bool of_layer = config_.positions.relative.kind == RelativePositions::LayerBuckets;
    const std::string place = of_layer ? fmt::format("{}.layers.{}", plan_.stack, plan_.chosen - 1) : plan_.stack;
    const Block& block = block_at(place + ".relative_positions.", BlockKind::RelativePositions);
    pen_.block(block, {middle - width / 2.0, y - 0.8, width, 1.6}, block.title, "");
    pen_.path({{middle, y - 0.8}, {middle, bottom}}, true);
}

// Sinusoids are a circle with one period of a sine, as in the paper; others are a box with their name.
void ModelColumn::positions(double y) {
    const Block& block = block_of(BlockKind::Positions, plan_.index);
    const double way = plan_.mirrored ? 1.0 : -1.0;
    if (config_.positions.kind != Positions::Sinusoid) {
        const double width = 8.8;
        pen_.block(block, {plan_.mirrored ? x_ + 2.2 : x_ - 2.2 - width, y - 0.8, width, 1.6}, block.title, "");
        pen_.path({{x_ + way * 2.2, y}, {x_ + way * 0.65, y}}, true);
        return;
    }
    constexpr double kRadius = 0.95;
    constexpr int kSegments = 24;
    const double centre = x_ + way * 3.2;
    const Mark mark = pen_.mark_of(block, block.title);
    const Rect circle{centre - kRadius, y - kRadius, 2.0 * kRadius, 2.0 * kRadius, kRadius};
    sketch_.rect(mark, ink_.paper, circle);
    sketch_.rect(mark, ink_.faint, {circle.x, circle.y, circle.width, circle.height, kRadius, kBlockStroke});
    std::vector<Point> wave;
    for (int i = 0; i <= kSegments; ++i) {
        const double share = static_cast<double>(i) / kSegments;
        wave.push_back(
            {centre + kRadius * (1.6 * share - 0.8), y - 0.5 * kRadius * std::sin(2.0 * std::numbers::pi * share)});
    }
    pen_.path(wave, false);
    pen_.path({{centre - way * kRadius, y}, {x_ + way * 0.65, y}}, false);
    Mark label = mark;
    label.role = Role::Label;
    label.tip.clear();
    const Anchor anchor = plan_.mirrored ? Anchor::Start : Anchor::End;
    const double beside = centre + way * (kRadius + 0.5);
    const std::size_t space = block.title.find(' ');
    sketch_.text(label, ink_.text, {beside, y - 0.15, 0.9, anchor, false, false, block.title.substr(0, space)});
    sketch_.text(label, ink_.text, {beside, y + 0.95, 0.9, anchor, false, false, block.title.substr(space + 1)});
}

void ModelColumn::outputs() {
    if (config_.output.transform != OutputTransform::None) {
        stack_on(block_of(BlockKind::Linear, 0), true);
        stack_on(block_at("output.norm.", BlockKind::Norm), false);
    }
    stack_on(block_of(BlockKind::Linear, config_.output.transform != OutputTransform::None ? 1 : 0), true);
    const bool writes_pieces = traits(config_.architecture).writes_pieces;
    if (writes_pieces) {
        stack_on(block_of(BlockKind::Softmax, 0), false);
    }
    pen_.path({{x_, top_}, {x_, top_ - kBlockGap}}, true);
    sketch_.text({Role::Label}, ink_.text,
                 {x_, top_ - kBlockGap - 0.4, 1.0, Anchor::Middle, false, false,
                  writes_pieces ? "Output Probabilities" : "Scores"});
}

// A block above all that was drawn.
void ModelColumn::stack_on(const Block& block, bool detailed) {
    const double height = detailed ? kTallBlock : kLowBlock;
    const double y = top_ - kBlockGap;
    pen_.path({{x_, top_}, {x_, y}}, true);
    pen_.block(block, {x_ - kBlockWidth / 2.0, y - height, kBlockWidth, height}, block.title,
               detailed ? block_detail(block) : "");
    top_ = y - height;
}

}  // namespace headscope

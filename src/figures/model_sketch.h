// What the map of the model is drawn with: blocks and the paths between them.
#pragma once

#include <string>
#include <vector>

#include "figures/model_map.h"
#include "model/description.h"
#include "paint/sketch.h"

namespace headscope {

// Lengths in units of the text size.
constexpr double kBlockWidth = 15.0;  // width
constexpr double kTallBlock = 2.9;    // a block with a name and a line of detail
constexpr double kLowBlock = 1.6;     // a block with a name alone
constexpr double kBlockGap = 1.1;     // between blocks, for an arrow
constexpr double kBlockStroke = 0.12;
constexpr double kBlockDetail = 0.8;

class ModelSketch {
public:
    ModelSketch(const ModelConfig& config, const Look& look)
        : model_(describe(config)), sketch_(look), ink_(sketch_.ink()) {}

    const ModelDescription& model() const { return model_; }
    Sketch& sketch() { return sketch_; }
    const Ink& ink() const { return ink_; }

    // A block of the model, which points back at it. The detail, below the name, may be empty.
    void block(const Block& which, const Rect& place, const std::string& name, const std::string& detail);
    // Any box; `mark` has its tip.
    void box(Mark mark, Colour fill, const Rect& place, const std::string& name, const std::string& detail);
    // What points back at a block of the model, with its tip.
    Mark mark_of(const Block& which, const std::string& name) const;
    // The paper's fill of such a block, for the drawing's theme.
    Colour fill_of(BlockKind kind) const;
    int index_of(const Block& which) const { return static_cast<int>(&which - model_.blocks.data()); }
    void path(const std::vector<Point>& points, bool arrow);
    void note(double x, double y, const std::string& text, Anchor anchor = Anchor::Start);

private:
    ModelDescription model_;
    Sketch sketch_;
    const Ink& ink_;
};

// Figure 2 with this model's numbers, its upper left corner at (left, top). Returns the opposite one.
Point draw_figure2(ModelSketch& pen, const ModelConfig& config, double left, double top);

}  // namespace headscope

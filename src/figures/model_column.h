// One stack of the model's map, from its inputs up to its output.
#pragma once

#include <string>
#include <vector>

#include "figures/model_sketch.h"

namespace headscope {

struct ColumnPlan {
    std::string stack;  // "encoder" or "decoder"
    const char* inputs = "";
    const char* tokens = "";
    int index = 0;          // among the model's stacks
    bool mirrored = false;  // residual paths, positions and the layers' numbers are on the right
    bool writes = false;    // its output becomes probabilities
    int layers = 0;
    int chosen = 1;  // the layer shown
};

class ModelColumn {
public:
    static constexpr double kPadding = 1.4;  // of a layer's box

    ModelColumn(ModelSketch& pen, const ModelConfig& config, ColumnPlan plan);

    static constexpr double kArm = 4.5;    // from the middle arrow into an attention to the two others
    static constexpr double kFork = 0.75;  // below an attention, where the line to its keys and values forks

    double height() const;  // from the bottom of the layer's box to the top
    static double height_below(const ModelConfig& config);

    // `x`: its centre; `bottom`: of the layer's box.
    void draw(double x, double bottom);

    const ColumnPlan& plan() const { return plan_; }
    double x() const { return x_; }
    double top() const { return top_; }  // where the output leaves
    // Where the encoder's output arrives: below the cross-attention, or the middle of the first recurrent part.
    double cross() const { return cross_; }

private:
    // Parts of a layer, from bottom to top.
    struct Part {
        const Block& block;
        std::string name;
        std::string detail = {};
        bool residual_from = false;  // the residual path leaves below this part
        bool residual_to = false;    // and returns here
        // Of two parallel sub-layers: what the first gives passes by the second, which reads what the first reads.
        bool passes_by = false;
        bool reads_same = false;
        double height() const;
    };

    std::vector<Part> parts() const;
    void add_sublayer(const Block& block, bool ends, std::vector<Part>& found) const;
    double gap_below(std::size_t part) const;
    double box_height() const;
    const Block& block_at(const std::string& prefix, BlockKind kind) const;
    const Block& block_of(BlockKind kind, int index) const;
    void draw_parts(const Rect& box);
    // Where lines of the layer shown begin: the residual path, and what parallel sub-layers read and give.
    struct Begins {
        double residual = 0.0;
        double read = 0.0;
        double given = 0.0;
    };
    void lines_to_sum(const Begins& begins, double middle);
    void arrows_into(const Part& part, double from, double to);
    void arrow_beside(const Begins& begins, double to);
    // The edge of the blocks on the side of the residual path or on the other one, and a line `away` from it.
    double edge(bool of_residual, double away = 0.0) const;
    void layer_numbers(const Rect& box);
    void inputs(double bottom);
    void plus(double y);
    void positions(double y);
    void relative_positions(double y, double bottom);
    void outputs();
    void stack_on(const Block& block, bool detailed);

    ModelSketch& pen_;
    Sketch& sketch_;
    const Ink& ink_;
    const ModelConfig& config_;
    ColumnPlan plan_;
    std::vector<Part> parts_;
    double x_ = 0.0;
    double top_ = 0.0;
    double cross_ = 0.0;
};

}  // namespace headscope

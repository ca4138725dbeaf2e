// Every layout as bitmaps, for inspection: HEADSCOPE_GALLERY=folder test_figures "[gallery]".
#include <cstdlib>

#include <catch2/catch.hpp>
#include "figures/all_heads.h"
#include "figures/beam_tree_drawing.h"
#include "figures/candidates.h"
#include "figures/curve.h"
#include "figures/figure.h"
#include "figures/heat_map.h"
#include "figures/importance_drawing.h"
#include "figures/model_map.h"
#include "figures/neuron_drawing.h"
#include "figures/sinusoid_drawing.h"
#include "io/atomic_file.h"
#include "observe/derived_records.h"
#include "paint/png.h"
#include "samples.h"

using namespace headscope;

namespace {

void keep(const std::string& name, const Drawing& drawing, double scale = 1.5) {
    const std::string png = to_png(rasterise(drawing, scale));
    CHECK(png.size() > 1000);
    if (const char* folder = std::getenv("HEADSCOPE_GALLERY")) {
        atomic_write_file(std::string(folder) + "/" + name + ".png", png);
    }
}

ModelConfig model_of_the_paper(NormPlacement norm) {
    ModelConfig config;
    config.norm.placement = norm;
    config.source_vocabulary = config.target_vocabulary = 37000;
    if (norm == NormPlacement::Pre) {
        config.embedding.tying = Tying::None;
        config.decoder_layers = 3;
    }
    return config;
}

}  // namespace

TEST_CASE("Every layout is rendered", "[gallery]") {
    for (const bool dark : {false, true}) {
        const Look look{.ink = dark ? kDarkInk : kLightInk};
        const std::string theme = dark ? "-dark" : "-light";
        const AttentionSelection selection{.layer = 5, .words = {"making"}};
        const SelectedAttention content = select_attention(test::paper_record(), selection);
        keep("figure" + theme, draw_figure(content, {.look = look}));
        keep("heat-linear" + theme, draw_heat_map(content, 4, {.look = look}));
        keep("heat-log" + theme, draw_heat_map(test::cross_content(), 2, {.scale = Scale::Logarithmic, .look = look}));
        AttentionRecord other = test::paper_record();
        std::rotate(other.sites[0].values.begin(), other.sites[0].values.begin() + 33 * 33,
                    other.sites[0].values.end());
        keep("heat-difference" + theme,
             draw_heat_map(select_attention(difference(test::paper_record(), other), selection), 3,
                           {.scale = Scale::Diverging, .look = look}));
        const AttentionRecord record = test::cross_record();
        for (const bool lines : {false, true}) {
            const AttentionRecord paper = test::paper_record(test::kFigure3, 0);
            keep(std::string("all-heads") + (lines ? "-lines" : "") + theme,
                 draw_all_heads(
                     paper, head_tiles(paper, head_statistics(paper), AttentionKind::EncoderSelf, HeadOrder::Sharpness),
                     {.columns = 4, .note = "sorted by sharpness", .lines = lines, .look = look}));
        }
        keep("candidates" + theme, draw_candidates(test::exploration_sample(), 3, {.look = look}));
        keep("beam" + theme, draw_beam_tree(test::beam_sample(4, 9), {.look = look}));
        keep("beam-collapsed" + theme, draw_beam_tree(test::beam_sample(4, 9), {.collapse = true, .look = look}));
        std::vector<std::string> keys, queries{"Das", "Gesetz", "„wird“", "<EOS>"};
        for (const RowItem& item : test::cross_content().keys) {
            keys.push_back(item.label);
        }
        NeuronView neurons = test::neuron_sample(4, 7, 64);
        const std::vector<double> row = softmax_row(neurons, 1);
        keep("neurons" + theme,
             draw_neurons(neurons, queries, keys, {row.begin(), row.end()}, 1, {.chosen = 1, .look = look}));
        neurons.edited = true;
        keep("neurons-edited" + theme, draw_neurons(neurons, queries, keys, {0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 0.0F},
                                                    1, {.chosen = 1, .look = look}));
        keep("model-post" + theme,
             draw_model_map(model_of_the_paper(NormPlacement::Post), {.encoder_layer = 5, .look = look}));
        keep("model-pre" + theme,
             draw_model_map(model_of_the_paper(NormPlacement::Pre), {.decoder_layer = 2, .look = look}));
        keep("sinusoids" + theme, draw_sinusoids(model_of_the_paper(NormPlacement::Post), {.look = look}));
        Series training{"training", {}, false}, validation{"validation", {}, false}, saved{"checkpoints", {}, true};
        for (int step = 1; step <= 20000; step += 10) {
            const double loss = 3.0 + 6.0 * std::exp(-step / 2500.0);
            training.points.push_back({double(step), loss + 0.2 * std::sin(step * 0.37) * std::cos(step * 0.011)});
            if (step % 2000 == 1) {
                validation.points.push_back({double(step), loss + 0.15});
                saved.points.push_back({double(step), loss + 0.15});
            }
        }
        keep("curve" + theme,
             draw_curves({training, validation, saved}, {.y_label = "nats a token", .chosen = 4, .look = look}));
        keep("importance-grid" + theme, draw_importance(test::importance_sample(), {.look = look}));
        keep("importance-bars" + theme, draw_importance(test::importance_sample(), {.bars = true, .look = look}));
    }
}

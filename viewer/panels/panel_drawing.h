// What a panel shows, as a drawing: the same for the window and for files.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "figures/figure.h"
#include "figures/heat_map.h"
#include "paint/drawing.h"
#include "paint/ink.h"
#include "viewer/session/scene.h"

namespace headscope::viewer {

struct PanelOptions {
    Ink ink = kLightInk;
    double text_size = 12.0;  // pixels
    double width = 900.0;     // of the room there is, in pixels: what can be folded is folded to it
    bool tips = true;         // windows ask PanelPictures::tip() when they hover
    bool operator==(const PanelOptions&) const = default;
};

// What there is to see in a panel now. Where there is nothing yet, the drawing says why.
Drawing draw_panel(const Scene& scene, PanelId panel, const PanelOptions& options);
// The attention that a panel's marks name columns of: the mark's item says which. Empty where they name none.
std::vector<SelectedAttention> panel_contents(const Scene& scene, PanelId panel);
// What hovering over a part of the panel says.
std::string panel_tip(const std::vector<SelectedAttention>& contents, const Mark& mark);
// The numbers behind it.
std::string panel_json(const Scene& scene, PanelId panel);
// The matrix of the panel as tab-separated text.
std::string matrix_tsv(const Scene& scene);

// The drawings of all panels, made anew only when what they show has changed.
class PanelPictures {
public:
    const Drawing& of(const Scene& scene, PanelId panel, const PanelOptions& options);
    // What hovering over the drawing that was asked for last says.
    std::string tip(PanelId panel, const Mark& mark);

private:
    struct Key {
        ViewState state;
        PanelOptions options;
        std::array<const void*, 7> parts{};
        int hovered = -1;
        bool operator==(const Key&) const = default;
    };
    struct Kept {
        Key key;
        Scene parts;  // holds what the key points at, so that an address is not used again
        Drawing drawing;
        std::optional<std::vector<SelectedAttention>> contents;  // once somebody hovered
    };
    std::array<std::optional<Kept>, kPanels> kept_;
};

// What the state selects of a record.
AttentionSelection selection_of(const Scene& scene, const AttentionRecord& record);
// The same for another kind than the state's.
AttentionSelection selection_of(const Scene& scene, const AttentionRecord& record, AttentionKind kind);
// How figures are painted.
FigureOptions figure_options(const Scene& scene, const PanelOptions& options);
// The chosen word, or the one under the pointer, where the row has so many.
void choose_word(const Scene& scene, AttentionSelection& selection);
// The record that the matrix panel draws from: as it is, averaged, or rolled out.
AttentionRecord matrix_record(const Scene& scene, const AttentionRecord& record);

}  // namespace headscope::viewer

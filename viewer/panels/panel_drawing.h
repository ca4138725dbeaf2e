// A panel as a drawing, for the window and for files.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "figures/figure.h"
#include "figures/heat_map.h"
#include "paint/drawing.h"
#include "paint/ink.h"
#include "viewer/panels/record_parts.h"
#include "viewer/session/scene.h"

namespace headscope::viewer {

struct PanelOptions {
    Ink ink = kLightInk;
    double text_size = 12.0;  // pixels
    double width = 900.0;     // available pixels, for wrapping text
    bool tips = true;         // false for windows, which call PanelPictures::tip() on hover
    bool operator==(const PanelOptions&) const = default;
};

// If there is nothing to draw yet, the drawing gives the reason.
Drawing draw_panel(const Scene& scene, PanelId panel, const PanelOptions& options);
// The same, with what `parts` already has.
Drawing draw_panel(const Scene& scene, PanelId panel, const PanelOptions& options, RecordParts& parts);
// The attention whose columns a panel's marks refer to, by the index Mark::item. Empty if they refer to none.
std::vector<SelectedAttention> panel_contents(const Scene& scene, PanelId panel);
// The tooltip of a part of the panel.
std::string panel_tip(const std::vector<SelectedAttention>& contents, const Mark& mark);
// The numbers behind a panel.
std::string panel_json(const Scene& scene, PanelId panel);
// The matrix of the panel as tab-separated text.
std::string matrix_tsv(const Scene& scene);

// Caches the drawings of all panels and redraws one only if its contents have changed.
class PanelPictures {
public:
    const Drawing& of(const Scene& scene, PanelId panel, const PanelOptions& options);
    // The tooltip of a mark in the drawing last returned for this panel.
    std::string tip(PanelId panel, const Mark& mark);

private:
    struct Key {
        ViewState state;
        PanelOptions options;
        std::array<const void*, 8> parts{};
        std::pair<int, int> hovered{-1, -1};  // the word and the step under the pointer
        bool operator==(const Key&) const = default;
    };
    struct Kept {
        Key key;
        Scene parts;  // keeps alive what the key points to, so that no address is reused
        Drawing drawing;
        std::optional<std::vector<SelectedAttention>> contents;  // computed on the first tip()
        bool fits(const Key& wanted, const Scene& scene) const;
    };
    struct Pictures {
        std::array<std::optional<Kept>, 2> kept;  // without and with a word or step under the pointer
        std::size_t shown = 0;                    // the one last returned
    };
    std::array<Pictures, kPanels> pictures_;
    RecordParts parts_;
};

// The part of a record that the state selects.
AttentionSelection selection_of(const Scene& scene, const AttentionRecord& record);
// The same for another attention kind.
AttentionSelection selection_of(const Scene& scene, const AttentionRecord& record, AttentionKind kind);
FigureOptions figure_options(const Scene& scene, const PanelOptions& options);
// Selects the word under the pointer or else the selected word, if the row has that many.
void choose_word(const Scene& scene, AttentionSelection& selection);
// The record that the matrix panel draws: the model's, a mean or the rollout.
AttentionRecord matrix_record(const Scene& scene, const AttentionRecord& record);

}  // namespace headscope::viewer

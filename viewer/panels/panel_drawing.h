// What all panels have: a drawing, numbers and tooltips, for the window and for files.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "figures/figure.h"
#include "viewer/panels/panel.h"

namespace headscope::viewer {

const char* title_of(PanelId panel, const Reading& reading);  // "Figure", in the window
// Why the window does not offer the panel; empty if it does, or if a saved view has asked for it.
std::string why_not_offered(const Scene& scene, PanelId panel);
bool offered(const Scene& scene, PanelId panel);
// The state's panel, or another if that one means nothing for the open model.
PanelId fitting_panel(const Scene& scene);

// If there is nothing to draw yet, the drawing gives the reason.
Drawing draw_panel(const Scene& scene, PanelId panel, const PanelOptions& options);
// The same, with what `parts` already has.
Drawing draw_panel(const Scene& scene, PanelId panel, const PanelOptions& options, RecordParts& parts);
// Panel::contents, if there is something to show.
std::vector<SelectedAttention> panel_contents(const Scene& scene, PanelId panel);
// The tooltip of a part of the panel.
std::string panel_tip(const std::vector<SelectedAttention>& contents, const Mark& mark);
// The visible heads of the pair of words under the pointer, the largest weight first, for bars below the tooltip; empty
// unless there are several.
std::vector<HeadWeight> panel_bars(const std::vector<SelectedAttention>& contents, const Mark& mark);
// The numbers behind a panel. Error if there is nothing to save.
std::string panel_json(const Scene& scene, PanelId panel);
// The same as tab-separated text, of a panel that has a table.
std::string panel_tsv(const Scene& scene, PanelId panel);

// Caches the drawings of all panels and redraws one only if its contents have changed.
class PanelPictures {
public:
    const Drawing& of(const Scene& scene, PanelId panel, const PanelOptions& options);
    // Panel::caption; empty without one and if there is nothing to show.
    std::string caption(const Scene& scene, PanelId panel);
    // The tooltip of a mark in the drawing last returned for this panel.
    std::string tip(PanelId panel, const Mark& mark);
    std::vector<HeadWeight> bars(PanelId panel, const Mark& mark);

private:
    struct Key {
        ViewState state;
        PanelOptions options;
        std::array<const void*, 13> parts{};
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
    // Null for a mark that has no contents.
    const std::vector<SelectedAttention>* contents_of(PanelId panel, const Mark& mark);
    struct Pictures {
        std::array<std::optional<Kept>, 2> kept;  // without and with a word or step under the pointer
        std::size_t shown = 0;                    // the one last returned
    };
    std::array<Pictures, kPanels> pictures_;
    RecordParts parts_;
};

}  // namespace headscope::viewer

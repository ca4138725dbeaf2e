// A panel of the window: a row here, in a file of its own. docs/architecture.md says how to add one.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "observe/selection.h"
#include "paint/drawing.h"
#include "paint/hit.h"
#include "paint/ink.h"
#include "viewer/panels/record_parts.h"
#include "viewer/session/fits.h"
#include "viewer/session/scene.h"
#include "viewer/session/wording.h"

namespace headscope::viewer {

class Controls;
struct PanelEvents;

struct PanelOptions {
    Ink ink = kLightInk;
    double text_size = 12.0;  // pixels
    double width = 900.0;     // available pixels, for wrapping text
    bool tips = true;         // false for windows, which call PanelPictures::tip() on hover
    bool operator==(const PanelOptions&) const = default;
};

// Defaults of a row.
// Why there is no result yet; empty if there is one.
std::string missing_result(const Scene& scene);
std::vector<SelectedAttention> no_contents(const Scene& scene);
std::string fits_any(const Scene& scene);

struct Panel {
    PanelId id = PanelId::Figure;
    const char* title = "";
    const char* keys = "";                         // of a panel after the ninth, which have Ctrl and a number
    const char* Wording::*family_title = nullptr;  // replaces the title if it depends on the model's family

    // Why it means nothing for the open model, so that the window does not offer it; empty if it does.
    std::string (*unfit)(const Scene& scene) = fits_any;
    // Why there is nothing to show or to save; empty if there is.
    std::string (*missing)(const Scene& scene) = missing_result;
    const char* advice = "";  // in the window, behind that reason
    Drawing (*draw)(const Scene& scene, const PanelOptions& options, RecordParts& parts) = nullptr;
    // What the drawing shows, in words, above it in the window.
    std::string (*caption)(const Scene& scene, RecordParts& parts) = nullptr;
    nlohmann::json (*numbers)(const Scene& scene) = nullptr;
    std::string (*table)(const Scene& scene) = nullptr;  // tab-separated; null if there is none
    // The attention whose columns the marks refer to, by the index Mark::item. Empty if they refer to none.
    std::vector<SelectedAttention> (*contents)(const Scene& scene) = no_contents;
    // Removes from the state what the drawing does not depend on, so that changing it does not repeat the drawing.
    void (*forget_unseen)(const Scene& scene, ViewState& state) = nullptr;
    bool follows_pointer = true;  // the drawing depends on the word or step under the pointer

    RoleSet pointable = RoleSet::all_but({Role::Background, Role::Grid, Role::Note, Role::Title});
    bool fit_height = true;  // false: keep the scale of a drawing that grows downwards
    // A mark where nothing was drawn, such as a cell that is too faint.
    std::optional<Mark> (*elsewhere)(const Scene& scene, const Drawing& drawing, Point at) = nullptr;
    bool follows_end = false;  // a drawing that grows downwards is scrolled to its end, unless the user has left it
    void (*controls)(Controls& ui) = nullptr;  // to its right
    void (*below)(Controls& ui) = nullptr;     // a line below the drawing; instead of examples where there is no text
    void (*events)(Controls& ui, const Drawing& drawing, const PanelEvents& events) = nullptr;
};

const Panel& panel_of(PanelId id);

extern const Panel kFigurePanel;
extern const Panel kHeadsPanel;
extern const Panel kMatrixPanel;
extern const Panel kTimePanel;
extern const Panel kSurgeryPanel;
extern const Panel kModelPanel;
extern const Panel kComparePanel;
extern const Panel kTrainingPanel;
extern const Panel kTreePanel;
extern const Panel kFindPanel;
extern const Panel kSaliencyPanel;
extern const Panel kLensPanel;
extern const Panel kPatchingPanel;
extern const Panel kVectorsPanel;
extern const Panel kChatPanel;

}  // namespace headscope::viewer

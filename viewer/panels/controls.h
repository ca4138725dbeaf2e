// What the controls and events of a panel need of the window, so that panels know no toolkit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paint/drawing.h"
#include "viewer/session/session.h"

namespace headscope::viewer {

// A head beside the panels: a click shows or hides it.
struct HeadSwatch {
    int head = 1;
    bool visible = true;
    bool off = false;           // the model runs without it
    bool begins_group = false;  // of heads that share keys and values: stands apart from the one before
};

struct HeadClick {
    int head = 0;  // 0: none
    bool alone = false;
};

// Controls below one another. Each `name` names the control for scripts.
class Controls {
public:
    explicit Controls(Session& one) : session(one) {}
    Controls(const Controls&) = delete;
    Controls& operator=(const Controls&) = delete;
    virtual ~Controls() = default;

    Session& session;
    bool playing = false;  // animating the steps of the decoding
    ViewState& state() const { return session.state(); }
    const Scene& scene() const { return session.scene(); }

    virtual void heading(const std::string& text) = 0;
    // Wrapped text in the faint colour.
    virtual void remark(const std::string& text, const std::string& name = {}) = 0;
    // One line of text.
    virtual void line(const std::string& name, const std::string& text) = 0;
    virtual bool button(const std::string& name, const std::string& label, const std::string& tip = {},
                        bool enabled = true) = 0;
    virtual bool small_button(const std::string& name, const std::string& label) = 0;
    // A choice of one of several. True if it changed.
    virtual bool segmented(const char* name, int& chosen, const std::vector<const char*>& labels,
                           const std::string& tip = {}) = 0;
    template <class Enum>
    bool choice(const char* name, Enum& chosen, const std::vector<const char*>& labels, const std::string& tip = {}) {
        int index = static_cast<int>(chosen);
        const bool changed = segmented(name, index, labels, tip);
        chosen = static_cast<Enum>(index);
        return changed;
    }
    // "-  Layer 5 of 6  +"
    virtual bool stepper(const char* name, const std::string& label, int& value, int least, int most) = 0;
    virtual bool toggle(const char* name, const std::string& label, bool& value, const std::string& tip = {}) = 0;
    // The label, which names the value, stands beside it. Scripts see the value with one digit behind the point.
    virtual bool slider(const char* name, double& value, double least, double most, const std::string& label) = 0;
    virtual bool scrubber(const char* name, int& value, int least, int most) = 0;
    // The text typed so far, which the window keeps.
    virtual std::string& field(const char* name, const char* hint) = 0;
    // A text that the caller keeps.
    virtual void edit(const char* name, const char* hint, std::string& text) = 0;
    // A line to write in, with a button beside it. The window keeps the text. After Enter the keyboard stays there.
    struct Entry {
        std::string& text;
        bool entered = false;  // by Enter
        bool pressed = false;  // the button
    };
    virtual Entry entry(const char* name, const char* hint, const char* action, bool enabled) = 0;
    // The chosen device, which the window keeps; empty: the default.
    virtual std::string& device_choice(const char* name) = 0;
    struct Offer {
        std::string id, text;
        std::string chosen;  // its text once it is chosen, if that differs
    };
    // A drop-down list. Scripts name an offer by its id, and the one with an empty id "default".
    virtual void drop_down(const char* name, std::string& chosen, const std::vector<Offer>& offers) = 0;
    virtual HeadClick heads(const std::vector<HeadSwatch>& swatches) = 0;
    // The next control stands beside the last one.
    virtual void beside() = 0;

    // Runs a command by its id.
    virtual void run(const char* command) = 0;
    virtual void copy(const std::string& text) = 0;
    // Shows that a click has an effect.
    virtual void point_out() = 0;
    // The size of the window's text in pixels.
    virtual float em() const = 0;
};

// The pointer on the drawing of a panel.
struct PanelEvents {
    std::optional<Mark> hovered;   // the mark under the pointer
    std::optional<Point> pointer;  // in the drawing's coordinates
    bool clicked = false;
    bool double_clicked = false;

    bool over_item() const { return hovered.has_value() && hovered->item >= 0; }
};

// Controls that several panels have.
// False without a model, and for one without attention, which it says.
bool has_heads(Controls& ui);
// A choice of the kinds that the model has, and of their layers.
void kind_and_layer(Controls& ui, bool with_layer);
void layer_stepper(Controls& ui, int layers);
// The heads of a layer, to show and to hide.
void heads_row(Controls& ui, const AttentionSite& site);
// The same with kind and layer, unless the model has no attention.
void attention_choice(Controls& ui);
// Whether the items of rows are words or pieces; and whether they include the ends and the first token.
void pieces_toggle(Controls& ui);
void row_toggles(Controls& ui);
// Beam and languages, as far as the model's family has them.
void search_controls(Controls& ui);

}  // namespace headscope::viewer

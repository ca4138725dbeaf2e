// The controls of panels that show attention, to the right of the panels.
#pragma once

#include "viewer/ui/interface.h"

namespace headscope::viewer {

void figure_controls(Interface& ui);
void heads_controls(Interface& ui);
void matrix_controls(Interface& ui);
void surgery_controls(Interface& ui);

// Parts of them, for panels that show attention beside other things.
// False without a model, and for one without attention, which it says.
bool has_heads(Interface& ui);
// A choice of the kinds that the model has, and of their layers.
void kind_and_layer(Interface& ui, bool with_layer);
void layer_stepper(Interface& ui, int layers);
// The heads of a layer, to show and to hide.
void heads_row(Interface& ui, const AttentionSite& site);

}  // namespace headscope::viewer

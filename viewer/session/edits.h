// Changes a state's edits.
#pragma once

#include "explore/attention_edits.h"
#include "viewer/session/scene.h"

namespace headscope::viewer {

// Switches a head off, or on again.
void switch_head(ViewState& state, const AttentionSite& site, int head);
// Adds an edit; it replaces one of the same head and row.
void put_edit(ViewState& state, const AttentionEdit& edit);

// Whether two words are selected, so that one can be pinned to the other; and that edit, for their first pieces.
bool pinnable(const Scene& scene);
AttentionEdit pinned(const Scene& scene);

}  // namespace headscope::viewer

// Changes of the edits of a state.
#pragma once

#include "explore/attention_edits.h"
#include "viewer/session/scene.h"

namespace headscope::viewer {

// The head off, or as it was where it is off.
void switch_head(ViewState& state, const AttentionSite& site, int head);
// In place of what was there for the same head and row.
void put_edit(ViewState& state, const AttentionEdit& edit);

// Whether two words are chosen, one of which can be pinned on the other; and that edit, of their first pieces.
bool pinnable(const Scene& scene);
AttentionEdit pinned(const Scene& scene);

}  // namespace headscope::viewer

// The attention that the state selects, and its words.
#pragma once

#include <cstddef>
#include <vector>

#include "observe/words.h"
#include "viewer/session/scene.h"

namespace headscope::viewer {

// How rows of words are shown. A picture's class token is always.
RowOptions row_options(const Scene& scene);
// Whether the attention shown is over the patches of a picture, and so drawn on it.
bool shows_patches(const Scene& scene);
// Words of a caption look at patches, and nothing else does.
Direction shown_direction(const Scene& scene);
// The kinds of attention to choose from: the model's, none if it has none; without a model its family's.
std::vector<AttentionKind> attentions_of(const Scene& scene);
// The kind of attention shown: the state's, if the model has it.
AttentionKind shown_kind(const Scene& scene);
// Layers of that kind; of a model without attention those of its larger stack; 0 without a model.
int layers_of(const Scene& scene);
// Heads of a layer; 0 without a model or attention.
int heads_of(const Scene& scene);
int heads_of(const Scene& scene, AttentionKind kind);
// How many heads beside each other share keys and values; 1: each has its own.
int heads_in_group(const Scene& scene, AttentionKind kind);
AttentionSite shown_site(const Scene& scene);
// The first visible head.
int first_head(const Scene& scene);
// The number of columns that can be selected: queries, or keys for Direction::To.
std::size_t words_of(const Scene& scene, Direction direction);

// The column of the mask that was selected, of a masked language model; -1: none.
int mask_column(const Scene& scene);

// Shows another kind of attention, whose words are different.
void choose_kind(ViewState& state, AttentionKind kind);
// Shows a head and the word that says most about it.
void show_head(ViewState& state, const TellingHead& found);
// A click on a head's swatch or, with `alone`, a double click; see HeadSelection.
void toggle_head(ViewState& state, int model_heads, int head, bool alone);

}  // namespace headscope::viewer

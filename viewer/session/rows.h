// Which attention of the scene's model the state means, and the words that stand there.
#pragma once

#include <cstddef>
#include <vector>

#include "observe/words.h"
#include "viewer/session/scene.h"

namespace headscope::viewer {

RowOptions row_options(const ViewState& state);
// Of the kind shown; 0 without a model.
int layers_of(const Scene& scene);
// Of a layer; 0 without a model.
int heads_of(const Scene& scene);
AttentionSite shown_site(const Scene& scene);
// The first head that is on.
int first_head(const Scene& scene);
// How many columns the row of the chosen words has: queries, or keys where the direction is To.
std::size_t words_of(const Scene& scene, Direction direction);

// A click on a head's swatch, or with `alone` a double click, see HeadSelection.
void toggle_head(ViewState& state, int model_heads, int head, bool alone);

// The first start shows one of these.
const std::vector<std::string>& example_sentences();
constexpr int kExampleWord = 4;  // "it" of the first

}  // namespace headscope::viewer

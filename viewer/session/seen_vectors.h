// The words of texts as points of one plane.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "explore/text_vectors.h"
#include "observe/principal_axes.h"

namespace headscope::viewer {

struct SeenVectors {
    std::vector<std::string> labels = {};  // the words or pieces of a text, and behind them those of another one
    std::size_t of_first = 0;              // how many are of the first text
    PrincipalPlane plane = {};             // with a place for each
    std::string problem = {};              // why there is nothing; empty if there is
};

// Takes long for many words, so that it has no place in the window's thread.
SeenVectors seen_vectors(const std::vector<TextVectors>& texts);

}  // namespace headscope::viewer

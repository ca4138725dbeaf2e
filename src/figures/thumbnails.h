// Small pictures of heads, as numbers.
#pragma once

#include <string>
#include <vector>

#include "observe/selection.h"

namespace headscope {

constexpr std::size_t kTileCells = 24;  // per side of a thumbnail, at most

// Max-pools a matrix [rows, columns] to at most `most` per side.
struct SmallMatrix {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<float> values;
};
SmallMatrix max_pooled(const float* values, std::size_t rows, std::size_t columns, std::size_t most);

// A head's weights as far as a tile shows them: as a heat map or as a figure's lines.
struct Thumbnail {
    struct Stroke {
        std::size_t query = 0;
        std::size_t key = 0;
        float weight = 0.0F;
    };
    SmallMatrix cells = {};
    std::vector<Stroke> strokes = {};
    std::size_t columns = 0;  // of the strokes' rows
};

// The thumbnails of all heads of one kind of attention. A long text has hundreds of megabytes of weights: reducing them
// takes longer than a frame, drawing the thumbnails does not.
struct Thumbnails {
    std::vector<std::vector<Thumbnail>> layers =
        {};  // by layer and head, from 0; empty for layers that were not recorded
    std::string title = {};
    std::string note = {};  // of the weights
    std::string ends = {};  // ends_of() the record
    bool altered = false;   // the weights are not those of the model's own pieces
};
Thumbnails reduce_heads(const AttentionRecord& record, AttentionKind kind, bool lines, const RowOptions& rows);

}  // namespace headscope

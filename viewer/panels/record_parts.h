// What panels compute from the weights that are shown. For a long text this takes longer than a frame, so it is kept
// while the same weights are shown.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "explore/exploration.h"
#include "figures/thumbnails.h"
#include "observe/head_statistics.h"
#include "observe/selection.h"

namespace headscope::viewer {

class RecordParts {
public:
    using Shown = std::shared_ptr<const Exploration>;

    // Frees what belongs to another record. The other functions call it.
    void look_at(const Shown& shown);
    // Of all heads.
    const std::vector<HeadStatistics>& statistics(const Shown& shown);
    const Thumbnails& thumbnails(const Shown& shown, AttentionKind kind, bool lines, const RowOptions& rows);
    // select_attention().
    const SelectedAttention& selected(const Shown& shown, const AttentionSelection& selection);

private:
    struct Reduced {
        AttentionKind kind;
        bool lines = false;
        RowOptions rows;
        Thumbnails thumbnails;
    };
    struct Selected {
        AttentionSelection selection;
        SelectedAttention attention;
    };
    Shown shown_;  // keeps the address from being used again
    std::optional<std::vector<HeadStatistics>> statistics_;
    std::optional<Reduced> reduced_;
    std::optional<Selected> selected_;
};

}  // namespace headscope::viewer

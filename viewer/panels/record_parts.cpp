#include "viewer/panels/record_parts.h"

namespace headscope::viewer {

void RecordParts::look_at(const Shown& shown) {
    if (shown != shown_) {
        *this = {};
        shown_ = shown;
    }
}

const std::vector<HeadStatistics>& RecordParts::statistics(const Shown& shown) {
    look_at(shown);
    if (!statistics_.has_value()) {
        statistics_ = head_statistics(shown->record);
    }
    return *statistics_;
}

const Thumbnails& RecordParts::thumbnails(const Shown& shown, AttentionKind kind, bool lines, const RowOptions& rows) {
    look_at(shown);
    if (!reduced_.has_value() || reduced_->kind != kind || reduced_->lines != lines || reduced_->rows != rows) {
        reduced_ = Reduced{kind, lines, rows, reduce_heads(shown->record, kind, lines, rows)};
    }
    return reduced_->thumbnails;
}

const SelectedAttention& RecordParts::selected(const Shown& shown, const AttentionSelection& selection) {
    look_at(shown);
    if (!selected_.has_value() || selected_->selection.kind != selection.kind ||
        selected_->selection.layer != selection.layer || selected_->selection.rows != selection.rows) {
        selected_ = Selected{selection, select_attention(shown->record, selection)};
    } else if (selected_->selection != selection) {
        choose(selected_->attention, selection);
        selected_->selection = selection;
    }
    return selected_->attention;
}

}  // namespace headscope::viewer

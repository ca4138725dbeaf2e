#include "cli/look/attention_on_picture.h"

#include <fmt/format.h>

#include "figures/picture_attention.h"
#include "model/frame_of_config.h"
#include "support/usage_error.h"
#include "text/shown_picture.h"

namespace headscope {

void choose_patch(const AttentionOptions& options, const ModelConfig& config, AttentionSelection& selection) {
    const PatchGrid grid = *patches_of(config);
    const auto side = static_cast<int>(grid.shape.side());
    const int before = grid.class_token ? 1 : 0;
    selection.rows.show_special = true;
    if (selection.kind != AttentionKind::EncoderSelf) {
        if (!options.at.empty()) {
            throw UsageError("--at chooses a patch that looks at others: give --kind encoder");
        }
        return;
    }
    if (!options.at.empty()) {
        const int row = options.at[0];
        const int column = options.at[1];
        if (row < 1 || row > side || column < 1 || column > side) {
            throw UsageError(fmt::format("--at {},{}: the picture has {} x {} patches", row, column, side, side));
        }
        selection.positions = {before + (row - 1) * side + column};
    } else if (grid.class_token && selection.words.empty() && selection.positions.empty()) {
        selection.positions = {1};
    }
}

std::string draw_on_picture(const AttentionOptions& options, const ModelConfig& config, const AttentionRecord& record,
                            const AttentionSelection& selection, const PictureFormat& format) {
    if (selection.kind == AttentionKind::DecoderSelf) {
        throw UsageError("the words of a caption look at words with --kind decoder: give --matrix, or --kind cross");
    }
    const FigureOptions& figure = options.picture.figure;
    if (figure.least > 0.0 || figure.top > 0 || figure.numbers || figure.probabilities || options.class_token) {
        throw UsageError(
            "--least, --top, --numbers, --probabilities and --class-token are for texts: leave them out (a picture's "
            "heads show the class token unless --at names a patch)");
    }
    PatchMap map = map_attention(select_attention(record, selection), selection.kind, config,
                                 picture_to_show(options.request.text, patches_of(config)->shape));
    if (selection.kind == AttentionKind::Cross && map.tiles.front().query >= 0) {
        map.note += " --word chooses a word, of which each head is drawn.";
    }
    return write_picture(draw_patch_map(map, options.picture.figure.look), options.picture, format);
}

}  // namespace headscope

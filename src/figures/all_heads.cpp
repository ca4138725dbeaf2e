#include "figures/all_heads.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "figures/layout.h"
#include "paint/text_width.h"

namespace headscope {

namespace {

constexpr double kTileGap = 0.8;
constexpr double kGroupGap = 1.6;  // beside kTileGap
constexpr double kTileLabel = 0.9;
constexpr double kLabelHeight = 1.4;
constexpr double kFaintestTile = 1.0 / 64.0;

// The sort key, in descending order, and its texts.
struct Measure {
    double value = -std::numeric_limits<double>::infinity();  // the largest first
    std::string shown;
};

Measure measure(const HeadStatistics& one, HeadOrder order) {
    if (one.off) {
        return {.shown = "off"};
    }
    const HeadOrderRow& row = row_of(order);
    const std::optional<double> value = row.value == nullptr ? one.entropy : row.value(one);
    if (!value.has_value()) {
        return {.shown = "none"};
    }
    return {.value = row.least_first ? -*value : *value,
            .shown = fmt::format("{:.{}f}{}", *value, row.decimals, row.unit)};
}

std::string tip_of(const AttentionRecord& record, const HeadStatistics& one) {
    if (one.off) {
        return "switched off";
    }
    const auto text = [](const std::vector<RecordedToken>& tokens, std::int64_t at) {
        return at < std::ssize(tokens) ? tokens[static_cast<std::size_t>(at)].text : "";
    };
    const std::string repeats =
        one.repeated == 0
            ? ""
            : fmt::format(" repeated tokens: {:.3f} on what followed before, {:.3f} on their earlier places;",
                          one.induction, one.duplicate);
    return fmt::format(
        "entropy {:.2f} bits, mean distance {:.2f}, sharpness {:.3f}, {:.3f} on the diagonal and beside it;{} "
        "strongest: {} \u2192 {} {:.2f}",
        one.entropy, one.distance, one.sharpness, one.on_diagonal(), repeats,
        text(query_tokens(record, one.site.kind), one.strongest_query),
        text(key_tokens(record, one.site.kind), one.strongest_key), one.strongest);
}

std::string name_of(const HeadTile& tile) {
    return fmt::format("L{} H{}", tile.site.layer + 1, tile.head);
}

class AllHeads {
public:
    AllHeads(const Thumbnails& thumbnails, const std::vector<HeadTile>& tiles, const AllHeadsOptions& options)
        : thumbnails_(thumbnails), tiles_(tiles), options_(options), sketch_(options.look), ink_(options.look.ink) {
        const auto heads = tiles.empty() ? 1 : std::ssize(layer_of(tiles.front()));
        columns_ = options.columns > 0 ? options.columns : static_cast<int>(heads);
        if (options.width > 0.0) {
            const double gaps = gap_before(columns_ - 1);
            const double room = (options.width - 2.0 * kMargin + kTileGap - gaps) / columns_ - kTileGap;
            tile_ = std::clamp(room, std::min(kLeastTile, options.tile), options.tile);
        } else {
            tile_ = options.tile;
        }
        has_swatches_ = std::all_of(tiles.begin(), tiles.end(), [&](const HeadTile& tile) {
            return (text_width(name_of(tile)) + 1.0) * kTileLabel <= tile_;
        });
        has_values_ = std::all_of(tiles.begin(), tiles.end(), [&](const HeadTile& tile) {
            return (text_width(name_of(tile)) + text_width(tile.value) + 1.5) * kTileLabel <= tile_;
        });
    }

    Drawing draw() {
        const std::string title = tiles_.empty() ? "No heads" : thumbnails_.title;
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title});
        const int used = std::min(columns_, static_cast<int>(tiles_.size()));
        const double width = std::max({left_of(std::max(used - 1, 0)) + tile_, text_width(title) * kTitleSize,
                                       text_width(options_.note) * kSmall});
        const std::vector<std::string> note = wrapped(note_of(), width / kSmall);
        sketch_.lines_of_text({Role::Note}, ink_.faint, kMargin, kMargin + 1.6 * kTitleSize, kSmall, note);
        const double top = kMargin + 1.6 * kTitleSize + lines_height(note, kSmall);
        for (std::size_t i = 0; i < tiles_.size(); ++i) {
            const int column = static_cast<int>(i) % columns_;
            const int row = static_cast<int>(i) / columns_;
            tile(static_cast<int>(i), tiles_[i],
                 {kMargin + left_of(column), top + row * (tile_ + kLabelHeight + kTileGap), tile_, tile_});
        }
        const int rows = (static_cast<int>(tiles_.size()) + columns_ - 1) / columns_;
        return sketch_.finish(
            2.0 * kMargin + width, top + kMargin + rows * (tile_ + kLabelHeight + kTileGap) - kTileGap, title,
            fmt::format("{} heads, each as a small {} with its queries from above to below and its keys from left to "
                        "right.",
                        tiles_.size(), options_.lines ? "figure" : "heat-map"));
    }

private:
    // Of all groups before a column's.
    double gap_before(int column) const { return options_.group > 1 ? kGroupGap * (column / options_.group) : 0.0; }
    double left_of(int column) const { return column * (tile_ + kTileGap) + gap_before(column); }

    const std::vector<Thumbnail>& layer_of(const HeadTile& tile) const {
        const auto layer = static_cast<std::size_t>(tile.site.layer);
        HEADSCOPE_CHECK(layer < thumbnails_.layers.size() && !thumbnails_.layers[layer].empty(),
                        "a tile's layer has thumbnails");
        return thumbnails_.layers[layer];
    }

    // The options' note, then that of the weights.
    std::string note_of() const {
        std::string note = options_.note.empty() ? "" : options_.note + ".";
        const auto add = [&](const std::string& more) {
            note.append(note.empty() || more.empty() ? "" : " ").append(more);
        };
        if (options_.group > 1) {
            add(fmt::format("The {} heads of a group share keys and values.", options_.group));
        }
        const auto captioned = [](const HeadTile& tile) { return !tile.value.empty(); };
        if (!tiles_.empty()) {
            add(thumbnails_.note);
        }
        if (thumbnails_.altered && std::any_of(tiles_.begin(), tiles_.end(), captioned)) {
            add(fmt::format("The numbers are of the model's own pieces, {} among them.", thumbnails_.ends));
        }
        return note;
    }

    void tile(int item, const HeadTile& tile, const Rect& place) {
        const std::vector<Thumbnail>& layer = layer_of(tile);
        check_heads({tile.head}, static_cast<int>(layer.size()));
        const Thumbnail& thumbnail = layer[static_cast<std::size_t>(tile.head) - 1];
        Mark mark{Role::Frame, tile.head};
        mark.layer = tile.site.layer + 1;
        mark.item = item;
        const std::string tip = sketch_.tips() ? fmt::format("layer {}, head {}{}{}", mark.layer, tile.head,
                                                             tile.tip.empty() ? "" : ": ", tile.tip)
                                               : "";
        mark.tip = tip;
        sketch_.rect(mark, ink_.paper, place);
        mark.tip.clear();
        if (tile.off) {
            mark.role = Role::Value;
            sketch_.text(mark, ink_.faint,
                         {place.x + 0.5 * place.width, place.y + 0.5 * place.height + kBaseline, 1.0, Anchor::Middle,
                          false, false, "off"});
        } else if (options_.lines) {
            lines(thumbnail, mark, place);
        } else {
            cells(thumbnail.cells, mark, place);
        }
        mark.role = Role::Frame;
        mark.tip = tip;  // once more, above the cells
        sketch_.rect(mark, ink_.rule, {place.x, place.y, place.width, place.height, 0.0, 0.1});
        mark.tip.clear();
        label(tile, mark, place);
    }

    void cells(const SmallMatrix& small, Mark mark, const Rect& place) {
        const double width = place.width / static_cast<double>(small.columns);
        const double height = place.height / static_cast<double>(small.rows);
        mark.role = Role::Cell;
        for (std::size_t row = 0; row < small.rows; ++row) {
            for (std::size_t column = 0; column < small.columns; ++column) {
                const double weight = static_cast<double>(small.values[row * small.columns + column]);
                if (weight >= kFaintestTile) {
                    sketch_.rect(mark, scale_colour(weight, ink_),
                                 {place.x + static_cast<double>(column) * width,
                                  place.y + static_cast<double>(row) * height, width, height});
                }
            }
        }
    }

    void lines(const Thumbnail& thumbnail, Mark mark, const Rect& place) {
        mark.role = Role::Attention;
        const double pitch = place.width / std::max(static_cast<double>(thumbnail.columns), 1.0);
        const Colour colour = head_colour(options_.palette, mark.head, ink_);
        for (const Thumbnail::Stroke& stroke : thumbnail.strokes) {
            sketch_.line(
                mark, colour,
                {place.x + (static_cast<double>(stroke.query) + 0.5) * pitch, place.y + 0.1 * place.height,
                 place.x + (static_cast<double>(stroke.key) + 0.5) * pitch, place.y + 0.9 * place.height, 0.12},
                std::min(static_cast<double>(stroke.weight), 1.0));
        }
    }

    void label(const HeadTile& tile, Mark mark, const Rect& place) {
        const double line = place.y + place.height + 1.1 * kTileLabel;
        const std::string name = name_of(tile);
        if (has_swatches_) {
            mark.role = Role::Swatch;
            sketch_.rect(mark, head_colour(options_.palette, tile.head, ink_),
                         {place.x, line - 0.72 * kTileLabel, 0.7 * kTileLabel, 0.7 * kTileLabel});
        }
        mark.role = Role::Label;
        sketch_.text(
            mark, ink_.text,
            {place.x + (has_swatches_ ? kTileLabel : 0.0), line, kTileLabel, Anchor::Start, false, false, name});
        if (has_values_ && !tile.value.empty()) {
            mark.role = Role::Value;
            sketch_.text(mark, ink_.faint,
                         {place.x + place.width, line, kTileLabel, Anchor::End, false, false, tile.value});
        }
    }

    const Thumbnails& thumbnails_;
    const std::vector<HeadTile>& tiles_;
    const AllHeadsOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    int columns_ = 1;
    double tile_ = 0.0;
    bool has_swatches_ = true;  // beside all names or none
    bool has_values_ = true;    // the same
};

}  // namespace

std::vector<HeadTile> head_tiles(const AttentionRecord& record, const std::vector<HeadStatistics>& statistics,
                                 AttentionKind kind, HeadOrder order) {
    std::vector<std::pair<double, HeadTile>> ranked;
    for (const HeadStatistics& one : statistics) {
        if (one.site.kind == kind) {
            const Measure found = measure(one, order);
            ranked.emplace_back(row_of(order).value == nullptr ? 0.0 : found.value,
                                HeadTile{one.site, one.head, found.shown, tip_of(record, one), one.off});
        }
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<HeadTile> tiles;
    tiles.reserve(ranked.size());
    for (auto& [value, tile] : ranked) {
        tiles.push_back(std::move(tile));
    }
    return tiles;
}

Drawing draw_all_heads(const Thumbnails& thumbnails, const std::vector<HeadTile>& tiles,
                       const AllHeadsOptions& options) {
    return AllHeads(thumbnails, tiles, options).draw();
}

Drawing draw_all_heads(const AttentionRecord& record, const std::vector<HeadTile>& tiles,
                       const AllHeadsOptions& options) {
    const AttentionKind kind = tiles.empty() ? AttentionKind::EncoderSelf : tiles.front().site.kind;
    return draw_all_heads(reduce_heads(record, kind, options.lines, options.rows), tiles, options);
}

}  // namespace headscope

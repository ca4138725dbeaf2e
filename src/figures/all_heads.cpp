#include "figures/all_heads.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "paint/text_width.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr double kMargin = 1.0;
constexpr double kGap = 0.8;
constexpr double kLabel = 0.9;
constexpr double kLabelHeight = 1.4;
constexpr double kNote = 0.85;
constexpr double kFaintest = 1.0 / 64.0;
constexpr float kFaintestLine = 0.1F;  // in a small figure; keeps the number of lines down

constexpr std::pair<HeadOrder, const char*> kOrders[] = {{HeadOrder::Model, "model"},
                                                         {HeadOrder::Entropy, "entropy"},
                                                         {HeadOrder::Distance, "distance"},
                                                         {HeadOrder::Sharpness, "sharpness"},
                                                         {HeadOrder::Diagonal, "diagonal"}};

// The sort key, in descending order, and its texts.
struct Measure {
    double value = 0.0;
    std::string shown;
    std::string words;
};

Measure measure(const HeadStatistics& one, HeadOrder order) {
    switch (order) {
        case HeadOrder::Distance:
            return {one.distance, fmt::format("{:.1f}", one.distance),
                    fmt::format("mean distance {:.2f}", one.distance)};
        case HeadOrder::Sharpness:
            return {one.sharpness, fmt::format("{:.2f}", one.sharpness),
                    fmt::format("sharpness {:.3f}", one.sharpness)};
        case HeadOrder::Diagonal:
            return {one.on_diagonal(), fmt::format("{:.2f}", one.on_diagonal()),
                    fmt::format("{:.3f} on the diagonal and beside it", one.on_diagonal())};
        case HeadOrder::Entropy:
        case HeadOrder::Model: break;
    }
    return {-one.entropy, fmt::format("{:.1f} bits", one.entropy), fmt::format("entropy {:.2f} bits", one.entropy)};
}

class AllHeads {
public:
    AllHeads(const AttentionRecord& record, const std::vector<HeadTile>& tiles, const AllHeadsOptions& options)
        : record_(record), tiles_(tiles), options_(options), sketch_(options.look), ink_(options.look.ink) {
        columns_ = options.columns > 0 ? options.columns
                   : tiles.empty()     ? 1
                                       : static_cast<int>(content_of(tiles.front()).model_heads);
    }

    Drawing draw() {
        const std::string title = tiles_.empty() ? "No heads" : title_of();
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title});
        const int used = std::min(columns_, static_cast<int>(tiles_.size()));
        const double width = std::max(
            {used * (options_.tile + kGap) - kGap, text_width(title) * kTitleSize, text_width(options_.note) * kNote});
        const std::vector<std::string> note = wrapped(note_of(), width / kNote);
        sketch_.lines_of_text({Role::Note}, ink_.faint, kMargin, kMargin + 1.6 * kTitleSize, kNote, note);
        const double top = kMargin + 1.6 * kTitleSize + lines_height(note, kNote);
        for (std::size_t i = 0; i < tiles_.size(); ++i) {
            const int column = static_cast<int>(i) % columns_;
            const int row = static_cast<int>(i) / columns_;
            tile(static_cast<int>(i), tiles_[i],
                 {kMargin + column * (options_.tile + kGap), top + row * (options_.tile + kLabelHeight + kGap),
                  options_.tile, options_.tile});
        }
        const int rows = (static_cast<int>(tiles_.size()) + columns_ - 1) / columns_;
        return sketch_.finish(
            2.0 * kMargin + width, top + kMargin + rows * (options_.tile + kLabelHeight + kGap) - kGap, title,
            fmt::format("{} heads, each as a small {} with its queries from above to below and its keys from left to "
                        "right.",
                        tiles_.size(), options_.lines ? "figure" : "heat-map"));
    }

private:
    // The joined weights of a tile's layer, computed once per layer.
    const SelectedAttention& content_of(const HeadTile& tile) {
        const auto key = std::pair(tile.site.kind, tile.site.layer);
        const auto known = contents_.find(key);
        if (known != contents_.end()) {
            return known->second;
        }
        const AttentionSelection selection{.kind = tile.site.kind, .layer = tile.site.layer + 1, .rows = options_.rows};
        return contents_.emplace(key, select_attention(record_, selection)).first->second;
    }

    std::string title_of() {
        const std::string first = content_of(tiles_.front()).title;  // "Input-Input Layer1", perhaps ", rollout"
        const std::size_t layer = first.find(" Layer");
        const std::size_t comma = first.find(',', layer);
        return first.substr(0, layer) + (comma == std::string::npos ? "" : first.substr(comma)) + ", all heads";
    }

    // The options' note, then those of the weights.
    std::string note_of() {
        std::string note = options_.note.empty() ? "" : options_.note + ".";
        const auto add = [&](const std::string& more) {
            note.append(note.empty() || more.empty() ? "" : " ").append(more);
        };
        // Notes differ only in whether pieces were joined, so the longest one covers all.
        const SelectedAttention* longest = nullptr;
        for (const HeadTile& tile : tiles_) {
            const SelectedAttention& content = content_of(tile);
            longest = longest == nullptr || content.note.size() > longest->note.size() ? &content : longest;
        }
        const auto captioned = [](const HeadTile& tile) { return !tile.value.empty(); };
        if (longest != nullptr) {
            add(longest->note);
            if ((longest->joined || longest->renormalised) && std::any_of(tiles_.begin(), tiles_.end(), captioned)) {
                add(fmt::format("The numbers are of the model's own pieces, {} among them.", ends_of(record_)));
            }
        }
        return note;
    }

    void tile(int item, const HeadTile& tile, const Rect& place) {
        const SelectedAttention& content = content_of(tile);
        check_heads({tile.head}, content.model_heads);
        Mark mark{Role::Frame, tile.head};
        mark.layer = tile.site.layer + 1;
        mark.item = item;
        if (sketch_.tips()) {
            mark.tip =
                fmt::format("layer {}, head {}{}{}", mark.layer, tile.head, tile.tip.empty() ? "" : ": ", tile.tip);
        }
        sketch_.rect(mark, ink_.paper, place);
        mark.tip.clear();
        if (options_.lines) {
            lines(content, tile.head, mark, place);
        } else {
            cells(content, tile.head, mark, place);
        }
        mark.role = Role::Frame;
        sketch_.rect(mark, ink_.rule, {place.x, place.y, place.width, place.height, 0.0, 0.1});
        label(tile, mark, place);
    }

    void cells(const SelectedAttention& content, int head, Mark mark, const Rect& place) {
        const SmallMatrix small = max_pooled(content.weights.data() + (static_cast<std::size_t>(head) - 1) *
                                                                          content.queries.size() * content.keys.size(),
                                             content.queries.size(), content.keys.size(), kTileCells);
        const double width = place.width / static_cast<double>(small.columns);
        const double height = place.height / static_cast<double>(small.rows);
        mark.role = Role::Cell;
        for (std::size_t row = 0; row < small.rows; ++row) {
            for (std::size_t column = 0; column < small.columns; ++column) {
                const double weight = static_cast<double>(small.values[row * small.columns + column]);
                if (weight >= kFaintest) {
                    sketch_.rect(mark, scale_colour(weight, ink_),
                                 {place.x + static_cast<double>(column) * width,
                                  place.y + static_cast<double>(row) * height, width, height});
                }
            }
        }
    }

    void lines(const SelectedAttention& content, int head, Mark mark, const Rect& place) {
        mark.role = Role::Attention;
        const auto columns = static_cast<double>(std::max(content.queries.size(), content.keys.size()));
        const double pitch = place.width / std::max(columns, 1.0);
        const Colour colour = head_colour(options_.palette, head, ink_);
        for (std::size_t query = 0; query < content.queries.size(); ++query) {
            for (std::size_t key = 0; key < content.keys.size(); ++key) {
                const float weight = content.weight(head, query, key);
                if (weight >= kFaintestLine) {
                    sketch_.line(
                        mark, colour,
                        {place.x + (static_cast<double>(query) + 0.5) * pitch, place.y + 0.1 * place.height,
                         place.x + (static_cast<double>(key) + 0.5) * pitch, place.y + 0.9 * place.height, 0.12},
                        std::min(static_cast<double>(weight), 1.0));
                }
            }
        }
    }

    void label(const HeadTile& tile, Mark mark, const Rect& place) {
        const double line = place.y + place.height + 1.1 * kLabel;
        mark.role = Role::Swatch;
        sketch_.rect(mark, head_colour(options_.palette, tile.head, ink_),
                     {place.x, line - 0.72 * kLabel, 0.7 * kLabel, 0.7 * kLabel});
        mark.role = Role::Label;
        const std::string name = fmt::format("L{} H{}", tile.site.layer + 1, tile.head);
        sketch_.text(mark, ink_.text, {place.x + kLabel, line, kLabel, Anchor::Start, false, false, name});
        const double left = place.width - kLabel - (text_width(name) + 0.5) * kLabel;
        if (text_width(tile.value) * kLabel <= left && !tile.value.empty()) {
            mark.role = Role::Value;
            sketch_.text(mark, ink_.faint,
                         {place.x + place.width, line, kLabel, Anchor::End, false, false, tile.value});
        }
    }

    const AttentionRecord& record_;
    const std::vector<HeadTile>& tiles_;
    const AllHeadsOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    int columns_ = 1;
    std::map<std::pair<AttentionKind, int>, SelectedAttention> contents_;
};

}  // namespace

const char* name_of(HeadOrder order) {
    for (const auto& [known, name] : kOrders) {
        if (known == order) {
            return name;
        }
    }
    return "";
}

HeadOrder parse_head_order(const std::string& name) {
    for (const auto& [order, known] : kOrders) {
        if (name == known) {
            return order;
        }
    }
    throw Error("unknown head order '" + name + "'; must be model, entropy, distance, sharpness or diagonal");
}

std::vector<HeadTile> head_tiles(const AttentionRecord& record, AttentionKind kind, HeadOrder order) {
    std::vector<std::pair<double, HeadTile>> ranked;
    for (const HeadStatistics& one : head_statistics(record)) {
        if (one.site.kind == kind) {
            const Measure found = measure(one, order);
            ranked.emplace_back(order == HeadOrder::Model ? 0.0 : found.value,
                                HeadTile{one.site, one.head, found.shown, found.words});
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

SmallMatrix max_pooled(const float* values, std::size_t rows, std::size_t columns, std::size_t most) {
    SmallMatrix small{std::min(rows, most), std::min(columns, most), {}};
    small.values.assign(small.rows * small.columns, 0.0F);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t to_row = row * small.rows / rows;
        for (std::size_t column = 0; column < columns; ++column) {
            float& to = small.values[to_row * small.columns + column * small.columns / columns];
            to = std::max(to, values[row * columns + column]);
        }
    }
    return small;
}

Drawing draw_all_heads(const AttentionRecord& record, const std::vector<HeadTile>& tiles,
                       const AllHeadsOptions& options) {
    return AllHeads(record, tiles, options).draw();
}

}  // namespace headscope

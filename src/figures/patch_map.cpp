#include "figures/patch_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "paint/text_width.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr double kPatchMapMargin = 1.0;
constexpr double kPatchMapLabel = 1.6;  // height of a tile's label
constexpr int kMostCells = 56;          // of a tile's side
constexpr int kMostCellsOfMap = 60'000;
constexpr double kMostGrowth = 1.1;  // of a tile, for sharp edges of its cells
constexpr double kReach = 0.2;       // of a cell's side
constexpr double kStrongest = 0.85;  // of the colour over the picture
constexpr Colour kHeat{0xe8, 0x59, 0x0c};

class PatchMapDrawing {
public:
    PatchMapDrawing(const PatchMap& map, const Look& look) : map_(map), sketch_(look), ink_(sketch_.ink()) {
        HEADSCOPE_CHECK(!map.tiles.empty() && map.picture.width == map.picture.height && map.picture.channels == 3,
                        "a patch map has tiles, and a square picture of three colours");
        const int finest = std::clamp(map.picture.width / map.side, 1, std::max(1, kMostCells / map.side)) * map.side;
        const int most = kMostCellsOfMap / static_cast<int>(map.tiles.size());
        int coarse = finest;
        while (coarse > map.side && coarse * coarse > most) {
            coarse -= map.side;
        }
        const double sharp = finest * snapped(map.tile / finest);
        width_ = sharp <= kMostGrowth * map.tile ? sharp : map.tile;
        whole_ = resized(map.picture, finest, finest);
        small_ = resized(map.picture, coarse, coarse);
        for (const PatchWeights& tile : map.tiles) {
            greatest_ = std::max(greatest_, *std::ranges::max_element(tile.weights));
        }
    }

    Drawing draw() {
        const int count = static_cast<int>(map_.tiles.size()) + 1;
        const int columns = std::clamp(map_.columns, 1, map_.apart ? std::max(count - 1, 1) : count);
        const int places = map_.apart ? columns - 1 : 0;  // left empty beside the picture
        const double across = columns * (width_ + kPatchMapGap) - kPatchMapGap;
        double top = kPatchMapMargin;
        double right = kPatchMapMargin + across;
        for (const std::string& line : wrapped(map_.title, std::max(across, kLeastTitle) / kBoldTitle)) {
            top += kTitleSize * (top > kPatchMapMargin ? kLineSpacing : 1.0);
            sketch_.text({Role::Title}, ink_.text,
                         {kPatchMapMargin, top, kTitleSize, Anchor::Start, false, true, line});
            right = std::max(right, kPatchMapMargin + kTitleSize * text_width(line));
        }
        top += kPatchMapGap;
        for (int i = 0; i < count; ++i) {
            const int place = i == 0 ? 0 : i + places;
            const double x = kPatchMapMargin + (place % columns) * (width_ + kPatchMapGap);
            const double y = top + (place / columns) * (width_ + kPatchMapLabel + kPatchMapGap);
            draw_tile(i == 0 ? nullptr : &map_.tiles[static_cast<std::size_t>(i) - 1], x, y);
        }
        const int rows = (count + places + columns - 1) / columns;
        const double bottom = top + rows * (width_ + kPatchMapLabel + kPatchMapGap);
        draw_scale(bottom, std::min(kScale, right - kPatchMapMargin));
        const std::vector<std::string> note = wrapped(map_.note, (right - kPatchMapMargin) / kNoteSize);
        sketch_.lines_of_text({Role::Note}, ink_.faint, kPatchMapMargin, bottom + 3.2, kNoteSize, note);
        return sketch_.finish(right + kPatchMapMargin,
                              bottom + 3.2 + lines_height(note, kNoteSize) + kPatchMapMargin / 2, map_.title,
                              map_.description);
    }

private:
    static constexpr double kNoteSize = 0.85;
    static constexpr double kScale = 12.0;  // its width
    static constexpr double kLeastTitle = 20.0;
    static constexpr double kBoldTitle = 1.1 * kTitleSize;  // for the width of bold letters

    static Colour pixel(const PixelPicture& picture, int row, int column) {
        const auto at = static_cast<std::size_t>((row * picture.width + column) * 3);
        return {picture.pixels[at], picture.pixels[at + 1], picture.pixels[at + 2]};
    }

    Colour on_picture(Colour pixel, double share) const {
        const auto grey = static_cast<std::uint8_t>((pixel.red * 299 + pixel.green * 587 + pixel.blue * 114) / 1000);
        return mixed(mixed({grey, grey, grey}, ink_.paper, 0.3), kHeat, kStrongest * share);
    }

    std::size_t patch_of(const PixelPicture& picture, int row, int column) const {
        const int patch = picture.width / map_.side;
        return static_cast<std::size_t>(row / patch * map_.side + column / patch);
    }

    Colour colour_of(const PatchWeights* tile, int row, int column) const {
        if (tile == nullptr) {
            return pixel(whole_, row, column);
        }
        const double weight = static_cast<double>(tile->weights[patch_of(small_, row, column)]);
        return on_picture(pixel(small_, row, column), greatest_ > 0.0F ? weight / static_cast<double>(greatest_) : 0.0);
    }

    // Of each patch.
    std::vector<std::string> tips_of(const PatchWeights* tile) const {
        std::vector<std::string> tips(static_cast<std::size_t>(map_.side) * static_cast<std::size_t>(map_.side));
        for (std::size_t patch = 0; tile != nullptr && sketch_.tips() && patch < tips.size(); ++patch) {
            tips[patch] = fmt::format("{}: {:.3g} on row {}, column {}", tile->label, tile->weights[patch],
                                      patch / static_cast<std::size_t>(map_.side) + 1,
                                      patch % static_cast<std::size_t>(map_.side) + 1);
        }
        return tips;
    }

    // Neighbours of one colour and patch are one rectangle.
    void draw_tile(const PatchWeights* tile, double x, double y) {
        const PixelPicture& picture = tile == nullptr ? whole_ : small_;
        const double cell = width_ / picture.width;
        // Cells reach below those beside and under them, so that no painter leaves a seam between them.
        const auto reaching = [&](int from, int to, int last) {
            return (to - from) * cell + (to < last ? kReach * cell : 0.0);
        };
        const std::vector<std::string> tips = tips_of(tile);
        for (int row = 0; row < picture.height; ++row) {
            for (int column = 0; column < picture.width;) {
                const Colour colour = colour_of(tile, row, column);
                const std::size_t patch = patch_of(picture, row, column);
                int end = column + 1;
                while (end < picture.width && patch_of(picture, row, end) == patch &&
                       colour_of(tile, row, end) == colour) {
                    ++end;
                }
                Mark mark{Role::Block, 0, -1, map_.keys_before + static_cast<int>(patch), tips[patch]};
                if (tile == nullptr) {
                    mark.item = mark.key;
                } else {
                    mark.role = Role::Cell;
                    mark.head = tile->head;
                    mark.query = tile->query;
                    mark.layer = tile->layer;
                }
                sketch_.rect(std::move(mark), colour,
                             {x + column * cell, y + row * cell, reaching(column, end, picture.width),
                              reaching(row, row + 1, picture.height)});
                column = end;
            }
        }
        Mark frame{Role::Frame};
        if (tile != nullptr) {
            frame.head = tile->head;
            frame.layer = tile->layer;
            frame.tip = tile->tip;
        }
        sketch_.rect(std::move(frame), ink_.rule, {x, y, width_, width_, 0.0, 0.1});
        if (map_.looks_from) {
            const double patch = width_ / map_.side;
            sketch_.rect({Role::Frame}, ink_.accent,
                         {x + *map_.looks_from % map_.side * patch, y + *map_.looks_from / map_.side * patch, patch,
                          patch, 0.0, 0.2});
        }
        sketch_.text({Role::Label, tile == nullptr ? 0 : tile->head}, ink_.text,
                     {x, y + width_ + 1.2, 1.0, Anchor::Start, false, false,
                      shortened(tile == nullptr ? "the picture" : tile->label, width_)});
    }

    void draw_scale(double y, double width) {
        constexpr int kSteps = 32;
        constexpr double kHeight = 0.8;
        for (int step = 0; step < kSteps; ++step) {
            sketch_.rect({Role::Legend}, on_picture({200, 200, 200}, (step + 0.5) / kSteps),
                         {kPatchMapMargin + width * step / kSteps, y, width / kSteps, kHeight});
        }
        sketch_.text({Role::Legend}, ink_.faint,
                     {kPatchMapMargin, y + kHeight + 1.0, kNoteSize, Anchor::Start, false, false, "0"});
        sketch_.text({Role::Legend}, ink_.faint,
                     {kPatchMapMargin + width, y + kHeight + 1.0, kNoteSize, Anchor::End, false, false,
                      fmt::format("{:.2g}", greatest_)});
    }

    const PatchMap& map_;
    Sketch sketch_;
    const Ink& ink_;
    double width_ = 0.0;  // of a tile
    PixelPicture whole_;  // as the picture is drawn, and as the tiles are: a pixel is a cell
    PixelPicture small_;
    float greatest_ = 0.0F;
};

}  // namespace

Drawing draw_patch_map(const PatchMap& map, const Look& look) {
    return PatchMapDrawing(map, look).draw();
}

}  // namespace headscope

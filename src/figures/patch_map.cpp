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
constexpr double kPatchMapGap = 1.2;
constexpr double kPatchMapLabel = 1.6;    // height of a tile's label
constexpr double kLeastPatchTile = 11.0;  // its side
constexpr int kPatchMapColumns = 4;       // of tiles
constexpr int kMostCells = 56;            // of a tile's side
constexpr double kStrongest = 0.85;       // of the colour over the picture
constexpr Colour kHeat{0xe8, 0x59, 0x0c};

class PatchMapDrawing {
public:
    PatchMapDrawing(const PatchMap& map, const Look& look)
        : map_(map), sketch_(look), ink_(sketch_.ink()), cells_(map.side * std::max(1, kMostCells / map.side)) {
        HEADSCOPE_CHECK(!map.tiles.empty() && map.picture.width == map.picture.height && map.picture.channels == 3,
                        "a patch map has tiles, and a square picture of three colours");
        cells_ = std::min(cells_, std::max(map.picture.width / map.side, 1) * map.side);
        cell_ = snapped(kLeastPatchTile / cells_);
        small_ = resized(map.picture, cells_, cells_);
        for (const PatchWeights& tile : map.tiles) {
            greatest_ = std::max(greatest_, *std::ranges::max_element(tile.weights));
        }
    }

    Drawing draw() {
        const double tile = cell_ * cells_;
        const int count = static_cast<int>(map_.tiles.size()) + 1;
        const int columns = std::min(count, kPatchMapColumns);
        const double top = kPatchMapMargin + kTitleSize + kPatchMapGap;
        sketch_.text(
            {Role::Title}, ink_.text,
            {kPatchMapMargin, kPatchMapMargin + kTitleSize, kTitleSize, Anchor::Start, false, true, map_.title});
        for (int i = 0; i < count; ++i) {
            const double x = kPatchMapMargin + (i % columns) * (tile + kPatchMapGap);
            const double y = top + (i / columns) * (tile + kPatchMapLabel + kPatchMapGap);
            draw_tile(i == 0 ? nullptr : &map_.tiles[static_cast<std::size_t>(i) - 1], x, y);
        }
        const int rows = (count + columns - 1) / columns;
        const double bottom = top + rows * (tile + kPatchMapLabel + kPatchMapGap);
        const double right = std::max(kPatchMapMargin + columns * (tile + kPatchMapGap) - kPatchMapGap,
                                      kPatchMapMargin + kTitleSize * text_width(map_.title));
        draw_scale(bottom, std::min(tile, 12.0));
        const std::vector<std::string> note = wrapped(map_.note, (right - kPatchMapMargin) / kNoteSize);
        sketch_.lines_of_text({Role::Note}, ink_.faint, kPatchMapMargin, bottom + 3.2, kNoteSize, note);
        return sketch_.finish(right + kPatchMapMargin,
                              bottom + 3.2 + lines_height(note, kNoteSize) + kPatchMapMargin / 2, map_.title,
                              map_.description);
    }

private:
    static constexpr double kNoteSize = 0.85;

    Colour pixel(int row, int column) const {
        const auto at = static_cast<std::size_t>((row * cells_ + column) * 3);
        return {small_.pixels[at], small_.pixels[at + 1], small_.pixels[at + 2]};
    }

    Colour on_picture(Colour pixel, double share) const {
        const auto grey = static_cast<std::uint8_t>((pixel.red * 299 + pixel.green * 587 + pixel.blue * 114) / 1000);
        return mixed(mixed({grey, grey, grey}, ink_.paper, 0.3), kHeat, kStrongest * share);
    }

    std::size_t patch_of(int row, int column) const {
        const int patch = cells_ / map_.side;
        return static_cast<std::size_t>(row / patch * map_.side + column / patch);
    }

    Colour colour_of(const PatchWeights* tile, int row, int column) const {
        const Colour colour = pixel(row, column);
        if (tile == nullptr) {
            return colour;
        }
        const double weight = static_cast<double>(tile->weights[patch_of(row, column)]);
        return on_picture(colour, greatest_ > 0.0F ? weight / static_cast<double>(greatest_) : 0.0);
    }

    // Neighbours of one colour and patch are one rectangle.
    void draw_tile(const PatchWeights* tile, double x, double y) {
        for (int row = 0; row < cells_; ++row) {
            for (int column = 0; column < cells_;) {
                const Colour colour = colour_of(tile, row, column);
                const std::size_t patch = patch_of(row, column);
                int end = column + 1;
                while (end < cells_ && patch_of(row, end) == patch && colour_of(tile, row, end) == colour) {
                    ++end;
                }
                Mark mark{tile == nullptr ? Role::Block : Role::Cell, tile == nullptr ? 0 : tile->head, -1,
                          static_cast<int>(patch)};
                if (tile != nullptr && sketch_.tips()) {
                    mark.tip = fmt::format("{}: {:.3g} on row {}, column {}", tile->label, tile->weights[patch],
                                           patch / static_cast<std::size_t>(map_.side) + 1,
                                           patch % static_cast<std::size_t>(map_.side) + 1);
                }
                sketch_.rect(std::move(mark), colour,
                             {x + column * cell_, y + row * cell_, (end - column) * cell_, cell_});
                column = end;
            }
        }
        const double width = cells_ * cell_;
        sketch_.rect({Role::Frame}, ink_.rule, {x, y, width, width, 0.0, 0.1});
        if (map_.looks_from) {
            const double patch = width / map_.side;
            sketch_.rect({Role::Frame}, ink_.accent,
                         {x + *map_.looks_from % map_.side * patch, y + *map_.looks_from / map_.side * patch, patch,
                          patch, 0.0, 0.2});
        }
        sketch_.text({Role::Label, tile == nullptr ? 0 : tile->head}, ink_.text,
                     {x, y + width + 1.2, 1.0, Anchor::Start, false, false,
                      shortened(tile == nullptr ? "the picture" : tile->label, width)});
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
    int cells_;  // of a tile's side, a multiple of the patches
    double cell_ = 0.0;
    PixelPicture small_;
    float greatest_ = 0.0F;
};

}  // namespace

Drawing draw_patch_map(const PatchMap& map, const Look& look) {
    return PatchMapDrawing(map, look).draw();
}

}  // namespace headscope

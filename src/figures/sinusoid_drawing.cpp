#include "figures/sinusoid_drawing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "figures/layout.h"
#include "model/sinusoids.h"
#include "paint/text_width.h"
#include "support/check.h"

namespace headscope {

namespace {

// The dimensions to draw, in order. Interleaved ones stay in pairs.
std::vector<std::int64_t> shown_dimensions(const ModelConfig& config, int columns) {
    const std::int64_t unit = config.positions.layout == SinusoidLayout::Interleaved ? 2 : 1;
    const std::int64_t units = config.position_width() / unit;
    const std::int64_t shown = std::clamp<std::int64_t>(columns / unit, 1, units);
    std::vector<std::int64_t> dimensions;
    for (std::int64_t i = 0; i < shown; ++i) {
        for (std::int64_t part = 0; part < unit; ++part) {
            dimensions.push_back(i * units / shown * unit + part);
        }
    }
    return dimensions;
}

}  // namespace

Drawing draw_sinusoids(const ModelConfig& config, const SinusoidOptions& options) {
    if (config.positions.kind != Positions::Sinusoid) {
        throw Error("this model has no sinusoids: its \"positions.kind\" is not \"sinusoid\"");
    }
    HEADSCOPE_CHECK(options.positions >= 1 && options.columns >= 1 && options.cell > 0.0, "sizes must be positive");
    const Ink& ink = options.look.ink;
    Sketch sketch(options.look);
    const std::vector<double> table =
        sinusoid_table(options.positions, config.position_width(), config.positions.layout, config.positions.first);
    const std::vector<std::int64_t> dimensions = shown_dimensions(config, options.columns);
    const bool all = static_cast<std::int64_t>(dimensions.size()) == config.position_width();
    const std::string title = fmt::format("Positional encoding, {}{} dimensions",
                                          all ? "" : fmt::format("{} of ", dimensions.size()), config.position_width());
    const double top = snapped(kMargin + 1.5 * kTitleSize + 1.4);
    const double left = snapped(kMargin + text_width("position 00") * kSmall + 0.5);
    sketch.text({Role::Title}, ink.text,
                {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title});
    for (int position = 0; position < options.positions; ++position) {
        for (std::size_t column = 0; column < dimensions.size(); ++column) {
            const double value =
                table[static_cast<std::size_t>(position * config.position_width() + dimensions[column])];
            Mark mark{Role::Cell, 0, position, static_cast<int>(column)};
            mark.item = static_cast<int>(dimensions[column]);
            if (sketch.tips()) {
                mark.tip = fmt::format("position {}, dimension {}: {:.3f}", position, dimensions[column], value);
            }
            sketch.rect(std::move(mark), diverging_colour(value, ink),
                        {left + static_cast<double>(column) * options.cell, top + position * options.cell, options.cell,
                         options.cell});
        }
    }
    const double width = options.cell * static_cast<double>(dimensions.size());
    const double height = options.cell * options.positions;
    sketch.rect({Role::Frame}, ink.rule, {left, top, width, height, 0.0, 0.1});
    const int every = std::max(1, static_cast<int>(std::ceil(4.0 / options.cell / 8.0)) * 8);
    for (int position = 0; position < options.positions; position += every) {
        sketch.text({Role::Axis}, ink.faint,
                    {left - 0.4, top + (position + 0.5) * options.cell + kBaseline * kSmall, kSmall, Anchor::End, false,
                     false, position == 0 ? "position 0" : std::to_string(position)});
    }
    sketch.text({Role::Axis}, ink.faint, {left, top - 0.5, kSmall, Anchor::Start, false, false, "dimension 0"});
    const std::string last = std::to_string(dimensions.back());
    if (width > kSmall * text_width("dimension 0 " + last)) {
        sketch.text({Role::Axis}, ink.faint, {left + width, top - 0.5, kSmall, Anchor::End, false, false, last});
    }
    const std::string legend = "blue \u22121, paper 0, orange 1";
    sketch.text({Role::Legend}, ink.faint, {left, top + height + 1.3, kSmall, Anchor::Start, false, false, legend});
    return sketch.finish(
        std::max({left + width, left + text_width(legend) * kSmall, kMargin + text_width(title) * kTitleSize}) +
            kMargin,
        top + height + 1.3 + kMargin, title,
        "Positions from above to below, dimensions from left to right; the wavelength grows from 2 pi to 10000 times "
        "2 pi.");
}

}  // namespace headscope

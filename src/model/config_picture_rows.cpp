// The keys of pictures as input.
#include <cstddef>
#include <functional>
#include <vector>

#include "model/config_rows.h"

namespace headscope {

namespace {

using Config = ModelConfig;
using Need = Needs<Config>;

constexpr std::int64_t kMaxPictureSide = 4096;

// Mean or deviation, with which values from 0 to 1 become those from -1 to 1.
std::function<void(ConfigReader&, Config&)> set_for_channels(std::vector<double> InputConfig::*numbers) {
    return [=](ConfigReader&, Config& config) {
        const std::int64_t channels = config.input.patches() ? config.input.channels : 0;
        (config.input.*numbers).assign(static_cast<std::size_t>(channels), 0.5);
    };
}

const Need kReadsPictures = {
    "`architecture` is `\"encoder\"` or `\"encoder-decoder\"` with `generation` "
    "`\"left_to_right\"`",
    [](const Config& c) {
        return c.architecture == Architecture::Encoder ||
               (has_encoder(c) && has_decoder(c) && c.generation == Generation::LeftToRight);
    }};
const Need kPatches = {"`input.kind` is `\"patches\"`", [](const Config& c) { return c.input.patches(); }};

}  // namespace

ConfigFields<Config> picture_fields() {
    return {
        choice_field("input.kind", at(&Config::input, &InputConfig::kind),
                     {{"text", InputKind::Text}, {"patches", InputKind::Patches}},
                     "what the encoder reads: pieces of text, or pictures that are cut into patches, each of which a "
                     "matrix projects to a vector (ViT: Dosovitskiy et al., 2021)")
            .by_default("`\"text\"`, `encoder` `\"patches\"`",
                        [](ConfigReader&, Config& config) {
                            config.input.kind =
                                config.architecture == Architecture::Encoder ? InputKind::Patches : InputKind::Text;
                        })
            .only_if(kReadsPictures),
        integer_field("input.picture", at(&Config::input, &InputConfig::picture), 1, kMaxPictureSide,
                      "the side of the square, in pixels, to which every picture is resized; a multiple of "
                      "`input.patch`")
            .only_if(kPatches),
        integer_field("input.patch", at(&Config::input, &InputConfig::patch), 1, kMaxPictureSide,
                      "the side of a square patch in pixels")
            .only_if(kPatches),
        integer_field("input.channels", at(&Config::input, &InputConfig::channels), 1, 3,
                      "1: pictures are read as grey ones; 3: as red, green and blue")
            .only_if(kPatches),
        boolean_field("input.class_token", at(&Config::input, &InputConfig::class_token),
                      "a learned vector before those of the patches (BERT's `[CLS]`)")
            .only_if(kPatches),
        numbers_field("input.mean", at(&Config::input, &InputConfig::mean), -10.0, 10.0,
                      "of each channel: its values, 0 to 1, are read less this")
            .by_default("0.5 of each channel", set_for_channels(&InputConfig::mean))
            .only_if(kPatches),
        numbers_field("input.deviation", at(&Config::input, &InputConfig::deviation), 1e-3, 10.0,
                      "of each channel: and divided by this")
            .by_default("0.5 of each channel", set_for_channels(&InputConfig::deviation))
            .only_if(kPatches),
    };
}

}  // namespace headscope

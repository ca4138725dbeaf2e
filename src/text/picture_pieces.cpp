#include "text/picture_pieces.h"

#include <array>
#include <cstddef>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "io/picture.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr std::string_view kGrey = "v";
constexpr std::string_view kColours = "rgb";

std::vector<Piece> pieces_of(std::int64_t channels) {
    std::vector<Piece> pieces;
    for (const char channel : channels == 1 ? kGrey : kColours) {
        for (std::int32_t value = 0; value < kChannelValues; ++value) {
            pieces.push_back({fmt::format("{}{}", channel, value)});
        }
    }
    return pieces;
}

class NothingJoiner final : public Joiner {
public:
    void add(std::string_view /*piece*/, JoinedText& joined) override {
        joined.spans.push_back({joined.text.size(), joined.text.size()});
    }
    void finish(JoinedText&) const override {}
};

}  // namespace

PicturePieces::PicturePieces(const PatchShape& shape)
    : shape_(shape),
      vocabulary_(std::make_shared<const Vocabulary>(pieces_of(shape.channels), SpecialPieces{}, "the pixels")) {}

std::vector<Segment> PicturePieces::split(std::string_view text) const {
    const int side = static_cast<int>(shape_.picture);
    const PixelPicture picture =
        resized(read_picture(std::string(text), static_cast<int>(shape_.channels)), side, side);
    std::vector<Segment> segments;
    segments.reserve(picture.pixels.size());
    for (std::int64_t patch = 0; patch < shape_.patches(); ++patch) {
        const std::int64_t top = patch / shape_.side() * shape_.patch;
        const std::int64_t left = patch % shape_.side() * shape_.patch;
        for (std::int64_t value = 0; value < shape_.values(); ++value) {
            const std::int64_t row = top + value / shape_.patch % shape_.patch;
            const std::int64_t column = left + value % shape_.patch;
            const std::int64_t channel = value / (shape_.patch * shape_.patch);
            const std::int64_t at = (row * shape_.picture + column) * shape_.channels + channel;
            const std::size_t id =
                static_cast<std::size_t>(channel * kChannelValues) + picture.pixels[static_cast<std::size_t>(at)];
            segments.push_back({vocabulary_->pieces()[id].text, {0, text.size()}});
        }
    }
    return segments;
}

std::unique_ptr<Joiner> PicturePieces::joiner() const {
    return std::make_unique<NothingJoiner>();
}

std::string PicturePieces::file() const {
    return picture_pieces_file(shape_);
}

std::string picture_pieces_file(const PatchShape& shape) {
    return fmt::format("{}\npicture {} patch {} channels {}\n", kPicturePieces, shape.picture, shape.patch,
                       shape.channels);
}

PatchShape parse_picture_pieces(std::string_view bytes, const std::string& name) {
    PatchShape shape;
    std::istringstream lines{std::string(bytes.substr(kPicturePieces.size()))};
    std::array<std::string, 3> words;
    lines >> words[0] >> shape.picture >> words[1] >> shape.patch >> words[2] >> shape.channels;
    const bool possible = shape.patch > 0 && shape.picture > 0 && shape.picture % shape.patch == 0 &&
                          (shape.channels == 1 || shape.channels == 3);
    if (lines.fail() || !possible || picture_pieces_file(shape) != bytes) {
        throw Error(
            fmt::format("'{}': expected a second line like \"picture 224 patch 16 channels 3\", the sides of a "
                        "picture and of its patches and 1 or 3 channels",
                        name));
    }
    return shape;
}

}  // namespace headscope

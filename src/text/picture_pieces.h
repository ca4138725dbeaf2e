// Pictures in place of text: a line is the name of a file, whose pieces are the values of its pixels' channels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

// A square picture that is cut into square patches, row by row.
struct PatchShape {
    std::int64_t picture = 224;  // its side in pixels, a multiple of `patch`
    std::int64_t patch = 16;     // a patch's side
    std::int64_t channels = 3;   // 1: grey; 3: red, green and blue

    std::int64_t side() const { return picture / patch; }  // in patches
    std::int64_t patches() const { return side() * side(); }
    std::int64_t values() const { return channels * patch * patch; }  // of a patch
    bool operator==(const PatchShape&) const = default;
};

// The first line of a file that stands for PicturePieces; the next one has the numbers of the shape.
inline constexpr std::string_view kPicturePieces = "#patches of pictures";
// The values of a channel. The piece of the value v of channel c has the id 256 c + v.
inline constexpr std::int32_t kChannelValues = 256;

// Reads the picture that a line names (io/picture.h) and resizes it to the shape's side, whatever its sides are. Its
// pieces are patch after patch, in a patch channel after channel, in a channel row after row: "r255", "g0"; of grey
// pictures "v128". Error for a file that is no picture. Nothing is joined: pieces become no text.
class PicturePieces final : public Segmenter {
public:
    explicit PicturePieces(const PatchShape& shape);
    TokenizerType type() const override { return TokenizerType::Words; }
    std::vector<Segment> split(std::string_view text) const override;
    std::unique_ptr<Joiner> joiner() const override;
    std::string file() const override;
    const Vocabulary* vocabulary() const override { return vocabulary_.get(); }
    const PatchShape& shape() const { return shape_; }
    std::shared_ptr<const Vocabulary> shared_vocabulary() const { return vocabulary_; }

private:
    PatchShape shape_;
    std::shared_ptr<const Vocabulary> vocabulary_;
};

// The content of its file.
std::string picture_pieces_file(const PatchShape& shape);
// Error, which names the file, for lines of another form.
PatchShape parse_picture_pieces(std::string_view bytes, const std::string& name);

}  // namespace headscope

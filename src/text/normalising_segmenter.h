// A segmenter that changes text before it splits it.
#pragma once

#include <string_view>
#include <vector>

#include "text/aligned_text.h"
#include "text/segmenter.h"

namespace headscope {

class NormalisingSegmenter : public Segmenter {
public:
    virtual AlignedText normalised(std::string_view text) const = 0;
    // `begins`: no added token is before the text.
    virtual std::vector<Segment> split_normalised(AlignedText text, bool begins) const = 0;
    std::vector<Segment> split(std::string_view text) const final { return split_normalised(normalised(text), true); }
    std::vector<Segment> split_behind(std::string_view text) const final {
        return split_normalised(normalised(text), false);
    }
};

}  // namespace headscope

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
    virtual std::vector<Segment> split_normalised(AlignedText text) const = 0;
    std::vector<Segment> split(std::string_view text) const final { return split_normalised(normalised(text)); }
};

}  // namespace headscope

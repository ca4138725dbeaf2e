#include "text/segmenter.h"

namespace headscope {

JoinedText Segmenter::join(const std::vector<std::string_view>& pieces) const {
    JoinedText joined;
    const std::unique_ptr<Joiner> joining = joiner();
    for (const std::string_view piece : pieces) {
        joining->add(piece, joined);
    }
    joining->finish(joined);
    return joined;
}

}  // namespace headscope

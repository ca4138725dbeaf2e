#include "text/growing_text.h"

namespace headscope {

void GrowingText::add(std::int32_t id) {
    if (tokenizer_.vocabulary().has_text(id, sentinels_)) {
        joiner_->add(tokenizer_.piece(id), joined_);
    }
}

}  // namespace headscope

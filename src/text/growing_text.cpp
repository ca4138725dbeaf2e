#include "text/growing_text.h"

namespace headscope {

void GrowingText::add(std::int32_t id) {
    if (tokenizer_.vocabulary().has_text(id, sentinels_)) {
        joiner_->add(tokenizer_.piece(id), joined_);
    }
}

std::string GrowingText::unsettled() const {
    JoinedText rest{.text = {}, .spans = {{}}};
    joiner_->finish(rest);
    return rest.text;
}

}  // namespace headscope

// Words that begin with U+2581, as "Metaspace" of Hugging Face's tokenizers splits texts, and the text of their pieces.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "text/aligned_text.h"
#include "text/normalizers.h"
#include "text/segmenter.h"

namespace headscope {

struct MarkedWordsOptions {
    Normalizer normalizer = {};
    bool split_at_white_space = false;  // before spaces become marks, U+2581
    bool add_mark = true;               // before text that does not begin with one
    bool split_at_marks = true;
    bool byte_fallback = false;  // unknown text becomes pieces such as <0xE2>, if there are all
    // When joining.
    bool drop_first_marks = true;   // all in the first piece
    bool drop_first_space = false;  // of the text
    bool join_bytes = false;        // pieces such as <0xE2> are bytes
};

// `text` is normalised.
std::vector<AlignedWord> marked_words(AlignedText text, const MarkedWordsOptions& options);
// The options must outlive it.
std::unique_ptr<Joiner> marked_joiner(const MarkedWordsOptions& options);

}  // namespace headscope

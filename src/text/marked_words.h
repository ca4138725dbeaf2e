// Words that begin with U+2581, as "Metaspace" of Hugging Face's tokenizers splits texts, and the text of their pieces.
// Without "Metaspace", a normalizer has written the marks, if there are any.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "text/aligned_text.h"
#include "text/normalizers.h"
#include "text/segmenter.h"
#include "text/text_split.h"

namespace headscope {

// Which parts of a text get a mark before them, if they do not begin with one.
enum class AddedMarks : std::uint8_t { None, First, All };

struct MarkedWordsOptions {
    Normalizer normalizer = {};
    std::vector<TextSplit> splits = {};  // before spaces become marks, U+2581
    bool mark_spaces = true;
    AddedMarks added_marks = AddedMarks::All;
    bool split_at_marks = true;
    bool byte_fallback = false;  // unknown text becomes pieces such as <0xE2>, if there are all
    // When joining.
    bool drop_first_marks = true;   // all in the first piece
    bool drop_first_space = false;  // of the text
    bool join_bytes = false;        // pieces such as <0xE2> are bytes
};

// `text` is normalised. `begins`: no added token is before it.
std::vector<AlignedWord> marked_words(const AlignedText& text, const MarkedWordsOptions& options, bool begins);
// The options must outlive it.
std::unique_ptr<Joiner> marked_joiner(const MarkedWordsOptions& options);

}  // namespace headscope

// "Metaspace" of a tokenizer.json: how words begin, and what becomes of that in texts.
#pragma once

#include "text/json_field.h"
#include "text/marked_words.h"

namespace headscope {

// The normalizer, pre-tokenizer and decoder of a whole file. Error that names file and key for others.
MarkedWordsOptions parse_metaspace(const JsonField& file);

}  // namespace headscope

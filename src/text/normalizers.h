// The normalizers of a tokenizer.json that change text before it is split.
#pragma once

#include <functional>

#include "text/aligned_text.h"
#include "text/json_field.h"

namespace headscope {

using Normalizer = std::function<AlignedText(AlignedText)>;

// "Precompiled", a normal form, "Replace", "Strip", "Prepend" or a "Sequence" of them; null changes nothing. Error that
// names file and key for others.
Normalizer parse_normalizer(const JsonField& field);

}  // namespace headscope

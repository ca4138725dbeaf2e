// Splits off validation texts from a file of texts with classes or numbers.
#pragma once

#include <cstdint>
#include <string>

#include "train/document_parts.h"

namespace headscope {

// As split_documents(), of lines: none that is trained on has the text of one that is validated. Error for a file of
// one class.
DocumentParts split_labelled(const std::string& file, const std::string& folder, std::uint64_t seed);

}  // namespace headscope

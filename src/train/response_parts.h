// Splits off validation prompts from a file of responses.
#pragma once

#include <cstdint>
#include <string>

#include "data/hold_out.h"
#include "data/task.h"
#include "train/document_parts.h"

namespace headscope {

// Writes the lines of a file to train.jsonl and valid.jsonl in `folder`, as they are held out.
DocumentParts write_held_out(const std::string& file, const HoldOut& held, const std::string& folder);

// As split_documents(), of lines: none that is trained on has the prompt of one that is validated. Error that names the
// line for one that the task cannot read.
DocumentParts split_responses(const std::string& file, Task task, const std::string& folder, std::uint64_t seed);

}  // namespace headscope

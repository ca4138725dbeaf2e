// Records and figures as JSON: numbers for other programs, and for the next start of this one.
#pragma once

#include <string>

#include "observe/attention_record.h"
#include "observe/selection.h"

namespace headscope {

// The whole record; reading it back gives the same record to the last bit. Error for weights that are no numbers.
std::string to_json(const AttentionRecord& record);
// Error says what was expected, where, and what was found. `origin` is the file's name.
AttentionRecord record_from_json(const std::string& text, const std::string& origin);

// What a figure shows: its rows, and the weights of its active heads.
std::string to_json(const SelectedAttention& content);

}  // namespace headscope

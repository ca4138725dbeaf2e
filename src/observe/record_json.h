// Records and figures as JSON, for other programs and for the viewer's saved state.
#pragma once

#include <string>

#include "observe/attention_record.h"
#include "observe/selection.h"

namespace headscope {

// The whole record; the round trip is exact. Error for weights that are not finite.
std::string to_json(const AttentionRecord& record);
// Error names the location, the expected and the found value. `origin` is the file name.
AttentionRecord record_from_json(const std::string& text, const std::string& origin);

// The content of a figure: its rows, and the weights of its active heads.
std::string to_json(const SelectedAttention& content);

}  // namespace headscope

// Records and figures as JSON, for other programs.
#pragma once

#include <string>

#include "observe/attention_record.h"
#include "observe/selection.h"

namespace headscope {

// The whole record, with the exact weights. Error for weights that are not finite.
std::string to_json(const AttentionRecord& record);

// The content of a figure: its rows, and the weights of its active heads.
std::string to_json(const SelectedAttention& content);

}  // namespace headscope

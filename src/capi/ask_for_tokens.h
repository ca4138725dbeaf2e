// Requests that only the tokenizer answers (capi/kinds.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capi/asked.h"

namespace headscope {

struct Submission;

AllAsked ask_for_pieces(const Submission& submission);
AllAsked ask_to_join(const Submission& submission);

// Of an input that is a JSON array of ids. Failure for another one.
std::vector<std::int32_t> ids_of(const std::string& input);

}  // namespace headscope

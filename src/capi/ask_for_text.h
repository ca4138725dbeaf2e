// Requests that write or score text (capi/kinds.h).
#pragma once

#include "capi/asked.h"

namespace headscope {

struct Submission;

AllAsked ask_to_translate(const Submission& submission);
AllAsked ask_to_complete(const Submission& submission);
AllAsked ask_to_fill(const Submission& submission);
AllAsked ask_for_scores(const Submission& submission);

}  // namespace headscope

// Requests that look into a pass over a text (capi/kinds.h).
#pragma once

#include "capi/asked.h"

namespace headscope {

struct Submission;

AllAsked ask_for_attention(const Submission& submission);
AllAsked ask_to_run(const Submission& submission);
AllAsked ask_for_importance(const Submission& submission);
AllAsked ask_for_saliency(const Submission& submission);

}  // namespace headscope

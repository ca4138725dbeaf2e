// Requests for texts as vectors (capi/kinds.h).
#pragma once

#include "capi/asked.h"

namespace headscope {

struct Submission;

AllAsked ask_for_vectors(const Submission& submission);

}  // namespace headscope

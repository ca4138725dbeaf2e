// Why an output ended, in JSON.
#pragma once

#include "infer/hypotheses.h"

namespace headscope {

// "end", "limit", "stop" or "unusable".
inline const char* name_of(EndReason end) {
    switch (end) {
        case EndReason::EndOfSentence: return "end";
        case EndReason::Limit: return "limit";
        case EndReason::Stop: return "stop";
        case EndReason::Unusable: break;
    }
    return "unusable";
}

}  // namespace headscope

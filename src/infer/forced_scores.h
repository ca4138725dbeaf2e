// Next-token probabilities after a given prefix, without a cache or a search.
#pragma once

#include <cstdint>
#include <vector>

#include "model/encoder_decoder.h"

namespace headscope {

// log P(token | source, prefix) of every token of the target vocabulary, from one teacher-forced pass. `source` is
// complete (Frame::source); `prefix` is the output so far, without bos.
std::vector<double> next_log_probabilities(Context& ctx, const EncoderDecoder& model,
                                           const std::vector<std::int32_t>& source,
                                           const std::vector<std::int32_t>& prefix);

}  // namespace headscope

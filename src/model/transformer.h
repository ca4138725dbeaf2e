#pragma once
#include "model/encoder_decoder.h"
namespace headscope {
using Transformer = EncoderDecoder;
using DecoderCache = Cache;
}  // namespace headscope

// Reads the pickles that torch.save writes: protocols 2 to 5 as far as state_dicts and plain values need them.
#pragma once

#include "io/byte_reader.h"
#include "io/pickle_value.h"

namespace headscope {

// Reads one pickle and leaves the reader after it. Nothing is executed: functions are replaced by those of
// io/pickle_calls.h. Error without the file's name for anything else and for damage. The values are valid while the
// arena and the bytes live.
const PickleValue& read_pickle(ByteReader& bytes, PickleArena& arena);

}  // namespace headscope

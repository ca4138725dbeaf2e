#pragma once

#include "backend/ops/common.h"

namespace headscope {

template <class T>
void store(T& to, T value, Write write) {
    to = write == Write::Accumulate ? to + value : value;
}

}  // namespace headscope

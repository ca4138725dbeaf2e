#pragma once

#include "backend/choices.h"

namespace headscope {

template <class T>
void store(T& to, T value, Write write) {
    to = write == Write::Accumulate ? to + value : value;
}

}  // namespace headscope

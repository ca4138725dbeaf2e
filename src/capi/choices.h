// Outputs of an input with their arrays.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "capi/results.h"

namespace headscope {

void put(Choice& choice, const std::string& name, NamedArray array);

// [n]
template <class Value>
NamedArray list_of(std::vector<Value> values) {
    return {.shape = {std::ssize(values)}, .values = std::move(values)};
}

}  // namespace headscope

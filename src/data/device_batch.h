// A batch on a device.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "data/batch.h"
#include "tensor/tensor.h"

namespace headscope {

// The fields of Tokens as I32 tensors of the same shapes; what is empty there is undefined.
struct DeviceTokens {
    Tensor ids = {};         // [texts, length]
    Tensor order = {};       // [texts * length]; needed only with a tape
    Tensor types = {};       // [texts or 1, length]; undefined: all 0
    Tensor type_order = {};  // [elements of `types`]; needed only with a tape, by a model with token types
    // [texts]; what lies behind is padding. Undefined: no padding. Read by what treats a text as a whole.
    Tensor lengths = {};
    Tensor ranges = {};   // [texts, length, 2]; undefined: each text is one document
    Tensor patches = {};  // [texts, length, values] of the backend's full_dtype(); undefined: texts are ids

    std::int64_t length() const { return ids.defined() ? ids.dim(1) : 0; }
};

// The fields of Gather as I32 tensors, and its weights of the backend's full_dtype(); what is empty there is undefined.
struct DeviceGather {
    std::int64_t count = 0;
    Tensor rows = {};     // [1, rows]
    Tensor order = {};    // [rows]
    Tensor classes = {};  // [1, rows]
    Tensor weights = {};  // [rows]
    Tensor numbers = {};  // [rows, scores]
};

// The fields of Comparisons: I32, and floats of the backend's full_dtype().
struct DeviceComparisons {
    std::int64_t prompts = 0;
    DeviceGather ends = {};
    Tensor texts = {};       // [1, pairs * 2]
    Tensor order = {};       // [pairs * 2]
    Tensor better = {};      // [pairs]
    Tensor weights = {};     // [pairs, 1]
    Tensor text_of = {};     // [1, rows]
    Tensor text_order = {};  // [rows]
    Tensor references = {};  // [texts, 1]
};

struct DeviceBatch {
    std::int64_t sentences = 0;
    DeviceTokens source = {}, target = {};
    DeviceGather source_ends = {}, predicted = {};
    std::vector<DeviceGather> adaptive = {};
    DeviceComparisons comparisons = {};
    Tensor ordinals = {};  // I32 [sentences]
};

DeviceTokens upload(Backend& backend, const Tokens& tokens);
DeviceGather upload(Backend& backend, const Gather& gather);
DeviceBatch upload(Backend& backend, const Batch& batch);

}  // namespace headscope

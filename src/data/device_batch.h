// A batch on a device.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "data/batch.h"
#include "tensor/tensor.h"

namespace headscope {

// Batch::head_out and Batch::clusters; undefined and none without an adaptive output.
struct AdaptiveTargets {
    struct Cluster {
        Tensor rows;   // [1, rows]
        Tensor out;    // [1, rows]
        Tensor order;  // [rows]
    };
    Tensor head = {};  // [rows to predict]
    std::vector<Cluster> clusters = {};
};

// The fields of Batch as I32 tensors of the same shapes. The tensors of a side without tokens are undefined.
struct DeviceBatch {
    std::int64_t sentences = 0, source_length = 0, target_length = 0;
    Tensor source = {};          // [sentences, source_length]
    Tensor source_lengths = {};  // [sentences]
    Tensor target_in = {};       // [sentences, target_length]
    Tensor target_out = {};      // [sentences, target_length]
    Tensor target_lengths = {};  // [sentences]
    Tensor predicted =
        {};  // [1, rows], with predicted_out and predicted_order; undefined if all positions have targets
    Tensor predicted_out = {};    // [1, rows]
    Tensor predicted_order = {};  // [rows]
    AdaptiveTargets adaptive = {};
    Tensor target_ranges = {};      // [sentences, target_length, 2], may be undefined
    Tensor ordinals = {};           // [sentences]
    Tensor target_types = {};       // [sentences or 1, target_length], undefined for a translation model
    Tensor target_type_order = {};  // [its elements]
    Tensor source_order = {};       // [sentences * source_length]
    Tensor source_ends = {};        // [1, sentences], with source_ends_order; may be undefined
    Tensor source_ends_order = {};  // [sentences]
    Tensor target_order = {};       // [sentences * target_length]
    std::int64_t source_tokens = 0, target_tokens = 0;
};

// Only these fields.
AdaptiveTargets upload_adaptive(Backend& backend, const Batch& batch);
DeviceBatch upload(Backend& backend, const Batch& batch);

}  // namespace headscope

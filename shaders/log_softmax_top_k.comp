// The k largest of log_softmax(logits), largest first, equals by index; one workgroup a row. Each round finds the first
// entry after the last one found; entries are ordered by a key, so that NaN is less than everything.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { LogSoftmaxTopKParams p; };
#include "grid.glsl"
#include "math.glsl"
#include "reduce.glsl"
#include "storage.glsl"
layout(set = 0, binding = 0) readonly buffer Logits { Stored logits[]; };
layout(set = 0, binding = 1) writeonly buffer Values { float values[]; };
layout(set = 0, binding = 2) writeonly buffer Indices { int indices[]; };

// Grows with x; 0 for NaN alone; the same for both zeros.
uint key_of(float x) {
    if (is_nan(x)) {
        return 0u;
    }
    uint bits = floatBitsToUint(x == 0.0 ? 0.0 : x);
    return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}

float from_key(uint key) {
    if (key == 0u) {
        return not_a_number();
    }
    return uintBitsToFloat((key & 0x80000000u) != 0u ? key & 0x7fffffffu : ~key);
}

void main() {
    const uint kNone = 0xffffffffu;
    uint start = p.offset[0] + group_index() * p.classes;
    uint last_key = kNone;
    uint last_index = 0u;
    float most = 0.0;
    float log_total = 0.0;
    for (uint rank = 0u; rank < p.k; ++rank) {
        uint best_key = 0u;
        uint best_index = kNone;
        for (uint c = lane(); c < p.classes; c += lanes()) {
            uint key = key_of(widen_one(logits[start + c]));
            bool after = rank == 0u || key < last_key || (key == last_key && c > last_index);
            if (after && (best_index == kNone || key > best_key)) {
                best_key = key;
                best_index = c;
            }
        }
        last_key = group_max(best_index == kNone ? 0u : best_key);
        last_index = group_min(best_key == last_key ? best_index : kNone);
        if (rank == 0u) {
            most = from_key(last_key);
            float total = 0.0;
            for (uint c = lane(); c < p.classes; c += lanes()) {
                float value = widen_one(logits[start + c]);
                total += is_nan(value) ? 0.0 : precise_exp(value - most);
            }
            log_total = precise_log(group_sum(total));
        }
        if (lane() == 0u) {
            uint target = group_index() * p.k + rank;
            values[p.offset[1] + target] = (from_key(last_key) - most) - log_total;
            indices[p.offset[2] + target] = int(last_index);
        }
    }
}

// The k largest of log_softmax(logits), largest first, equal ones by index; one workgroup for each row. An invocation
// keeps the first few entries that it sees; entries are ordered by a key, so that NaN is less than everything. Each
// round takes the first of all that the invocations have left; they scan again if k is more than they keep.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(LogSoftmaxTopKParams, LOG_SOFTMAX_TOP_K_BINDINGS, LOG_SOFTMAX_TOP_K_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "math.glsl"
#include "reduce.glsl"
#include "storage.glsl"
layout(constant_id = constant_kept) const uint kKept = 4u;
HEADSCOPE_READ_FOURS(binding_logits, logits)
layout(set = 0, binding = binding_values) writeonly buffer Values { float values[]; };
layout(set = 0, binding = binding_indices) writeonly buffer Indices { int indices[]; };

const uint kNone = 0xffffffffu;

// Increases with x; 1 only for NaN, 0 for no entry; the same for both zeros.
uint key_of(float x) {
    // By bits: a device's comparison may treat denormals as zero.
    uint bits = floatBitsToUint(x) == 0x80000000u ? 0u : floatBitsToUint(x);
    uint key = (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
    return is_nan(x) ? 1u : key + 1u;
}

float from_key(uint key) {
    uint bits = ((key - 1u) & 0x80000000u) != 0u ? (key - 1u) & 0x7fffffffu : ~(key - 1u);
    return key <= 1u ? not_a_number() : uintBitsToFloat(bits);
}

// The first entries that this invocation has seen, in order.
uint keys[kKept];
uint indices_of[kKept];

// Adds an entry that follows all earlier ones in index.
void meet(uint key, uint index) {
    bool placed = false;
    [[unroll]] for (uint i = 0u; i < kKept; ++i) {
        placed = placed || key > keys[i];
        uint last_key = keys[i];
        uint last_index = indices_of[i];
        keys[i] = placed ? key : last_key;
        indices_of[i] = placed ? index : last_index;
        key = placed ? last_key : key;
        index = placed ? last_index : index;
    }
}

// Scans the entries of this invocation after the given one.
void look(uint start, uint last_key, uint last_index) {
    [[unroll]] for (uint i = 0u; i < kKept; ++i) {
        keys[i] = 0u;
        indices_of[i] = kNone;
    }
    for (uint c = 4u * lane(); c < p.classes; c += 4u * lanes()) {
        vec4 value = logits_at(start + c, p.classes - c);
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            uint key = key_of(value[i]);
            bool after = key < last_key || (key == last_key && c + i > last_index);
            meet(after && (kFours || c + i < p.classes) ? key : 0u, c + i);
        }
    }
}

// The sum of exponentials relative to `most`.
float total_of(uint start, float most) {
    float total = 0.0;
    for (uint c = 4u * lane(); c < p.classes; c += 4u * lanes()) {
        uint count = p.classes - c;
        vec4 value = logits_at(start + c, count);
        vec4 terms = of_row(precise_exp(value - most), count);
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            total += is_nan(value[i]) ? 0.0 : terms[i];
        }
    }
    return group_sum(total);
}

void main() {
    uint start = p.offset[binding_logits] + group_index() * p.classes;
    uint last_key = kNone;
    uint last_index = 0u;
    float most = 0.0;
    float log_total = 0.0;
    for (uint rank = 0u; rank < p.k; ++rank) {
        if (rank % kKept == 0u) {
            look(start, last_key, last_index);
        }
        last_key = group_max(keys[0]);
        last_index = group_min(keys[0] == last_key ? indices_of[0] : kNone);
        if (keys[0] == last_key && indices_of[0] == last_index) {
            [[unroll]] for (uint i = 0u; i + 1u < kKept; ++i) {
                keys[i] = keys[i + 1u];
                indices_of[i] = indices_of[i + 1u];
            }
            keys[kKept - 1u] = 0u;
            indices_of[kKept - 1u] = kNone;
        }
        if (rank == 0u) {
            most = from_key(last_key);
            log_total = precise_log(total_of(start, most));
        }
        if (lane() == 0u) {
            uint target = group_index() * p.k + rank;
            values[p.offset[binding_values] + target] = (from_key(last_key) - most) - log_total;
            indices[p.offset[binding_indices] + target] = int(last_index);
        }
    }
}

// What becomes of a product's sums: alpha times a sum and beta times what was there or, in a linear layer, the bias of
// its column, under its activation. To be included after the push constants `p`; p.wide_out says that the output of
// operands in 16 bits is F32.
#extension GL_EXT_control_flow_attributes : require
#include "storage.glsl"

layout(constant_id = constant_epilogue) const uint kEpilogue = 0u;  // kAddsBias, kRectifies
layout(set = 0, binding = binding_out) buffer Out { float to[]; };
layout(set = 0, binding = binding_out) buffer OutVectors { vec4 to_vectors[]; };
layout(set = 0, binding = binding_bias) readonly buffer Bias { float bias[]; };

const uint kAddsBias = 1u;
const uint kRectifies = 2u;

// One element, or four neighbours, which are counted by fours.
#ifdef HEADSCOPE_16_BITS

layout(set = 0, binding = binding_out) buffer NarrowOut { Stored narrow_to[]; };
layout(set = 0, binding = binding_out) buffer NarrowOutVectors { StoredFour narrow_to_vectors[]; };

bool stores_floats() { return p.wide_out != 0u; }
float out_one(uint at) { return p.wide_out != 0u ? to[at] : widen_one(narrow_to[at]); }
vec4 out_four(uint four) { return p.wide_out != 0u ? to_vectors[four] : widen_four(narrow_to_vectors[four]); }

void out_put(uint at, float value) {
    if (p.wide_out != 0u) {
        to[at] = value;
    } else {
        narrow_to[at] = narrow_one(value);
    }
}

void out_put_four(uint four, vec4 value) {
    if (p.wide_out != 0u) {
        to_vectors[four] = value;
    } else {
        narrow_to_vectors[four] = narrow_four(value);
    }
}

#else

bool stores_floats() { return true; }
float out_one(uint at) { return to[at]; }
vec4 out_four(uint four) { return to_vectors[four]; }
void out_put(uint at, float value) { to[at] = value; }
void out_put_four(uint four, vec4 value) { to_vectors[four] = value; }

#endif

// Past the last column its own.
float bias_of(uint column) {
    return (kEpilogue & kAddsBias) != 0u ? bias[p.offset[binding_bias] + min(column, p.n - 1u)] : 0.0;
}

float finished(float sum, float added) {
    float value = p.alpha * sum;
    value = (kEpilogue & kAddsBias) != 0u ? value + added : value;
    return (kEpilogue & kRectifies) != 0u && value <= 0.0 ? 0.0 : value;  // NaN stays NaN
}

void store(uint target, float sum, float added) {
    float value = finished(sum, added);
    // beta = 0 never reads: the output may be noise.
    out_put(target, p.beta == 0.0 ? value : fma(p.beta, out_one(target), value));
}

// Four neighbours, where they begin at a multiple of four.
void store_four(uint target, vec4 sums, vec4 added) {
    vec4 value;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        value[i] = finished(sums[i], added[i]);
    }
    if (p.beta != 0.0) {
        value = fma(vec4(p.beta), out_four(target / 4u), value);
    }
    out_put_four(target / 4u, value);
}

// What becomes of a product's sums: alpha times a sum and beta times what was there or, in a linear layer, the bias of
// its column, under its activation. To be included after the push constants `p`.
layout(constant_id = 7) const uint kEpilogue = 0u;  // kAddsBias, kRectifies
layout(set = 0, binding = 2) buffer Out { float to[]; };
layout(set = 0, binding = 3) readonly buffer Bias { float bias[]; };

const uint kAddsBias = 1u;
const uint kRectifies = 2u;

// Past the last column its own.
float bias_of(uint column) {
    return (kEpilogue & kAddsBias) != 0u ? bias[p.offset[3] + min(column, p.n - 1u)] : 0.0;
}

float finished(float sum, float added) {
    float value = p.alpha * sum;
    value = (kEpilogue & kAddsBias) != 0u ? value + added : value;
    return (kEpilogue & kRectifies) != 0u && value <= 0.0 ? 0.0 : value;  // NaN stays NaN
}

void store(uint target, float sum, float added) {
    float value = finished(sum, added);
    // beta = 0 never reads: the output may be noise.
    to[target] = p.beta == 0.0 ? value : fma(p.beta, to[target], value);
}

// loss = -sum q log p, nll = -log p[target], grad = grad_scale (p - q); a target of -1 is a pad. One workgroup for each
// row. With l = logits - max and z = log sum exp l:  -log p[c] = z - l[c].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(SmoothedCrossEntropyParams, SMOOTHED_CROSS_ENTROPY_BINDINGS, FOURS_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "math.glsl"
#include "reduce.glsl"
#include "storage.glsl"
HEADSCOPE_READ_FOURS(binding_logits, logits)
layout(set = 0, binding = binding_targets) readonly buffer Targets { int targets[]; };
layout(set = 0, binding = binding_loss) writeonly buffer Loss { float loss[]; };
layout(set = 0, binding = binding_nll) writeonly buffer Nll { float nll[]; };
HEADSCOPE_WRITE_FOURS(binding_grad_logits, grad_logits)
layout(set = 0, binding = binding_grad_scale) readonly buffer GradScale { float grad_scale[]; };
layout(set = 0, binding = binding_prior) readonly buffer Prior { float prior[]; };

void write_row(float row_loss, float row_nll) {
    if (lane() == 0u) {
        loss[p.offset[binding_loss] + group_index()] = row_loss;
        nll[p.offset[binding_nll] + group_index()] = row_nll;
    }
}

// How four classes share what smoothing moves, relative to an even share or, with a prior, to all of it.
vec4 shares_at(uint c) {
    vec4 shares = vec4(1.0);
    if (p.has_prior != 0u) {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            shares[i] = prior[p.offset[binding_prior] + min(c + i, p.classes - 1u)];
        }
    }
    return shares;
}

void main() {
    uint start = p.offset[binding_logits] + group_index() * p.classes;
    uint target_start = p.offset[binding_grad_logits] + group_index() * p.classes;
    int target = targets[p.offset[binding_targets] + group_index()];
    if (target == -1) {
        write_row(0.0, 0.0);
        for (uint c = 4u * lane(); p.has_grad != 0u && c < p.classes; c += 4u * lanes()) {
            grad_logits_put(target_start + c, p.classes - c, vec4(0.0));
        }
        return;
    }
    float most = -infinity();
    for (uint c = 4u * lane(); c < p.classes; c += 4u * lanes()) {
        vec4 value = logits_at(start + c, p.classes - c);
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            most = kFours || c + i < p.classes ? max(most, value[i]) : most;
        }
    }
    most = group_max(most);
    float exponentials = 0.0;
    float below = 0.0;     // the sum of max - logits by share, each term >= 0
    float target_l = 0.0;  // from the invocation with the target: grad_logits may overwrite it below
    for (uint c = 4u * lane(); c < p.classes; c += 4u * lanes()) {
        uint count = p.classes - c;
        vec4 l = logits_at(start + c, count) - most;
        exponentials += sum_of_four(of_row(precise_exp(l), count));
        vec4 shares = shares_at(c);
        below -= sum_of_four(of_row(mix(shares * l, vec4(0.0), equal(shares, vec4(0.0))), count));
        target_l += sum_of_four(mix(vec4(0.0), l, equal(uvec4(c) + uvec4(0u, 1u, 2u, 3u), uvec4(target))));
    }
    exponentials = group_sum(exponentials);
    below = group_sum(below);
    target_l = group_sum(target_l);
    float z = precise_log(exponentials);
    // A target out of range must show: NaN, never an out-of-bounds read.
    bool exists = target >= 0 && target < int(p.classes);
    float row_nll = exists ? z - target_l : not_a_number();
    float sharing = p.has_prior != 0u ? 1.0 : float(p.classes);  // the sum of the shares
    float others = p.other_classes != 0u ? p.epsilon / float(max(p.classes, 2u) - 1u) : p.epsilon / sharing;
    float on_target = p.other_classes != 0u ? 1.0 - p.epsilon : 1.0 - p.epsilon + others;
    float surplus = p.has_prior != 0u ? 1.0 - p.epsilon : on_target - others;  // of the target
    float row_loss = p.epsilon == 0.0 ? row_nll : surplus * row_nll + others * (sharing * z + below);
    write_row(row_loss, row_nll);
    if (p.has_grad == 0u) {
        return;
    }
    float scale = p.has_grad_scale != 0u ? grad_scale[p.offset[binding_grad_scale]] : 1.0;
    for (uint c = 4u * lane(); c < p.classes; c += 4u * lanes()) {
        uint count = p.classes - c;
        vec4 probability = precise_exp(logits_at(start + c, count) - most) / exponentials;
        vec4 wanted = others * shares_at(c);
        vec4 if_target = p.has_prior != 0u ? wanted + surplus : vec4(on_target);
        wanted = mix(wanted, if_target, equal(uvec4(c) + uvec4(0u, 1u, 2u, 3u), uvec4(target)));
        grad_logits_put(target_start + c, count, exists ? scale * (probability - wanted) : vec4(not_a_number()));
    }
}

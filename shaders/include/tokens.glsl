// Which of a batch's tokens are padding, for kernels whose parameters have a sequence.
#ifndef HEADSCOPE_TOKENS_GLSL
#define HEADSCOPE_TOKENS_GLSL

layout(constant_id = constant_has_lengths) const bool kHasLengths = false;
layout(set = 0, binding = binding_lengths) readonly buffer Lengths { int lengths[]; };

bool is_token(uint token) {
    if (!kHasLengths) {
        return true;
    }
    uint sentence = token / p.sequence;
    return int(token - sentence * p.sequence) < lengths[p.offset[binding_lengths] + sentence];
}

#endif

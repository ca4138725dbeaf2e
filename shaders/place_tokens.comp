// Gives the slots of one expert to the tokens that chose it: first choices in the order of the tokens, then second ones.
// One workgroup for each expert; its invocations have neighbouring tokens.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(PlaceTokensParams, PLACE_TOKENS_BINDINGS, PLACE_TOKENS_CONSTANTS)
#include "grid.glsl"
#include "reduce.glsl"
#include "tokens.glsl"
layout(constant_id = constant_has_keys) const bool kHasKeys = false;
layout(set = 0, binding = binding_probabilities) readonly buffer Probabilities { float probabilities[]; };
layout(set = 0, binding = binding_chosen) readonly buffer Chosen { int chosen[]; };
layout(set = 0, binding = binding_ordinals) readonly buffer Ordinals { int ordinals[]; };
layout(set = 0, binding = binding_slots) writeonly buffer Slots { int slots[]; };
layout(set = 0, binding = binding_sources) writeonly buffer Sources { int sources[]; };
layout(set = 0, binding = binding_weights) writeonly buffer Weights { float weights[]; };
layout(set = 0, binding = binding_keys) writeonly buffer Keys { uint keys[]; };
layout(set = 0, binding = binding_shares) writeonly buffer Shares { float shares[]; };
layout(set = 0, binding = binding_sums) writeonly buffer Sums { float sums[]; };

const uint kWords = 8u;
shared uint wanting[kWords];  // a bit for each invocation

// How many invocations before this one want a slot; every one takes part. `all_of_them`: of the whole workgroup.
uint count_before(bool wants, out uint all_of_them) {
    barrier();
    if (lane() < kWords) {
        wanting[lane()] = 0u;
    }
    barrier();
    if (wants) {
        atomicOr(wanting[lane() / 32u], 1u << (lane() % 32u));
    }
    barrier();
    uint before = bitCount(wanting[lane() / 32u] & ((1u << (lane() % 32u)) - 1u));
    all_of_them = 0u;
    for (uint word = 0u; 32u * word < lanes(); ++word) {
        uint bits = uint(bitCount(wanting[word]));
        before += word < lane() / 32u ? bits : 0u;
        all_of_them += bits;
    }
    return before;
}

void put(uint slot, uint token, uint choice, float weight) {
    sources[p.offset[binding_sources] + slot] = int(token);
    weights[p.offset[binding_weights] + slot] = weight;
    if (kHasKeys) {
        uint sentence = token / p.sequence;
        uint place = 65536u * uint(ordinals[p.offset[binding_ordinals] + sentence]) + token - sentence * p.sequence;
        keys[p.offset[binding_keys] + slot] = place * p.choices + choice;
    }
}

void main() {
    uint expert = group_index();
    uint taken = 0u;
    float tokens = 0.0;
    float sum = 0.0;
    float firsts = 0.0;
    for (uint choice = 0u; choice < p.choices; ++choice) {
        for (uint first = 0u; first < p.tokens; first += lanes()) {
            uint token = first + lane();
            bool counts = token < p.tokens && is_token(token);
            uint at = p.offset[binding_probabilities] + token * p.experts;
            uint choices_at = p.offset[binding_chosen] + token * p.choices;
            bool chose = token < p.tokens && chosen[choices_at + choice] == int(expert);
            uint now;
            uint place = taken + count_before(chose && counts, now);
            taken += now;
            if (choice == 0u && counts) {
                tokens += 1.0;
                sum += probabilities[at + expert];
                firsts += chose ? 1.0 : 0.0;
            }
            bool placed = chose && counts && place < p.capacity;
            uint slot = expert * p.capacity + place;
            if (chose) {
                slots[p.offset[binding_slots] + token * p.choices + choice] = placed ? int(slot) : -1;
            }
            if (placed) {
                float whole = p.choices == 1u ? 1.0 : 0.0;
                for (uint j = 0u; j < p.choices && p.choices > 1u; ++j) {
                    whole += probabilities[at + uint(chosen[choices_at + j])];
                }
                put(slot, token, choice, probabilities[at + expert] / whole);
            }
        }
    }
    for (uint place = min(taken, p.capacity) + lane(); place < p.capacity; place += lanes()) {
        uint slot = expert * p.capacity + place;
        sources[p.offset[binding_sources] + slot] = -1;
        weights[p.offset[binding_weights] + slot] = 0.0;
        if (kHasKeys) {
            keys[p.offset[binding_keys] + slot] = 0u;
        }
    }
    tokens = group_sum(tokens);
    sum = group_sum(sum);
    firsts = group_sum(firsts);
    if (lane() == 0u) {
        shares[p.offset[binding_shares] + expert] = tokens == 0.0 ? 0.0 : firsts / tokens;
        sums[p.offset[binding_sums] + expert] = sum;
    }
}

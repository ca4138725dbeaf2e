// The steps of attention by matrices, in the memory of cooperative_memory.glsl. To be included after the matrices of
// cooperative_device.glsl or cooperative_emulated.glsl.
#ifndef HEADSCOPE_COOPERATIVE_HEADS_GLSL
#define HEADSCOPE_COOPERATIVE_HEADS_GLSL

// An operand: load(at, four) gives four columns from 4 * four of the row that begins at `at` as two pairs of F16.
#ifdef HEADSCOPE_16_BITS
#define two_pairs(four) four
#define one_word(word) uint(word)
#define pair_of_words(low, high) (low | high << 16u)
#else
#define two_pairs(four) uvec2(pair_of_words(four.x, four.y), pair_of_words(four.z, four.w))
#define one_word(word) word
#define pair_of_words(low, high) pair_of(uintBitsToFloat(low), uintBitsToFloat(high))
#endif
#define HEADSCOPE_PAIRS(slot, load, columns, Wide, wide, Narrow, narrow)                  \
    layout(set = 0, binding = slot) readonly buffer Wide { WordFour wide[]; };            \
    layout(set = 0, binding = slot) readonly buffer Narrow { Word narrow[]; };            \
    uvec2 load(uint at, uint four) {                                                      \
        if (kWide) {                                                                      \
            WordFour whole = wide[at / 4u + four];                                        \
            return two_pairs(whole);                                                      \
        }                                                                                 \
        uvec4 word = uvec4(0u);                                                           \
        [[unroll]] for (uint x = 0u; x < 4u; ++x) {                                       \
            if (4u * four + x < columns) {                                                \
                word[x] = one_word(narrow[at + 4u * four + x]);                           \
            }                                                                             \
        }                                                                                 \
        return uvec2(pair_of_words(word.x, word.y), pair_of_words(word.z, word.w));       \
    }

HEADSCOPE_PAIRS(binding_q, take_q, kDepth, QFours, q_fours, QWords, q_words)
HEADSCOPE_PAIRS(binding_k, take_k, kDepth, KFours, k_fours, KWords, k_words)
HEADSCOPE_PAIRS(binding_v, take_v, kValueDepth, VFours, v_fours, VWords, v_words)

// Puts `rows` rows of an operand, of which the first begins at `base`, at `to` in shared memory, with zeros for those
// that are not there (an expression in `row`) and past the last column.
#define HEADSCOPE_STAGE(to, pitch, rows, columns, padded, load, base, step, there)                       \
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < (rows * (padded / 4u) + kLanes - 1u) / kLanes; ++i) {     \
        uint index = i * kLanes + lane();                                                                \
        uint row = index / (padded / 4u);                                                                \
        uint four = index % (padded / 4u);                                                               \
        uvec2 pairs = uvec2(0u);                                                                         \
        if (row < rows && 4u * four < columns && (there)) {                                              \
            pairs = load(base + row * step, four);                                                       \
        }                                                                                                \
        if (row < rows) {                                                                                \
            memory[to + row * pitch + 2u * four] = pairs.x;                                              \
            memory[to + row * pitch + 2u * four + 1u] = pairs.y;                                         \
        }                                                                                                \
    }

// Behind a barrier, and until there are scores, is_seen_key() knows whether some query of the head sees a key.
void find_seen_keys(uint first_row) {
    for (uint key = lane(); key < kKeys; key += lanes()) {
        memory[kScoresAt + key] = key < p.keys && p.queries > 0u && is_seen(key, first_row) ? 1u : 0u;
    }
}

bool is_seen_key(uint key) { return memory[kScoresAt + key] != 0u; }

// Of this workgroup, if there is one for each of a sentence's `heads`.
Place own_place(uint heads) {
    uint index = group_index();
    uint batch = index / heads;
    return Place(batch, index - batch * heads, index, 0u);
}

// Puts keys and values that some query sees where cooperative_memory.glsl has room for them.
void stage_keys(Place place) {
    find_seen_keys(place.index * p.queries);
    barrier();
    HEADSCOPE_STAGE(kKAt, kPitch, kKeys, kDepth, kPaddedDepth, take_k,
                    p.offset[binding_k] + start_of_group(place, p.k_strides), p.k_strides[2], is_seen_key(row))
    HEADSCOPE_STAGE(kVAt, kValuePitch, kKeys, kValueDepth, kPaddedValueDepth, take_v,
                    p.offset[binding_v] + start_of_group(place, p.v_strides), p.v_strides[2], is_seen_key(row))
}

// Over the invocations that share a row. All invocations must take part.
#define HEADSCOPE_ROW_REDUCTION(name, combine)                                                   \
    float name(float value) {                                                                    \
        barrier();                                                                               \
        memory[kSharesAt + lane()] = floatBitsToUint(value);                                     \
        barrier();                                                                               \
        float all = uintBitsToFloat(memory[kSharesAt + own_row() * kSharing]);                   \
        for (uint part = 1u; part < kSharing; ++part) {                                          \
            all = combine(all, uintBitsToFloat(memory[kSharesAt + own_row() * kSharing + part])); \
        }                                                                                        \
        return all;                                                                              \
    }
float sum_of_two(float a, float b) { return a + b; }
HEADSCOPE_ROW_REDUCTION(row_max, max)
HEADSCOPE_ROW_REDUCTION(row_sum, sum_of_two)

// Of the own row, and scaled.
float score_of(uint key) { return p.scale * uintBitsToFloat(memory[kScoresAt + own_row() * kScorePitch + key]); }

// Of the own row. All invocations must take part.
float largest_score(Keys allowed) {
    float largest = -infinity();
    for (uint eight = own_part(); eight < kEights; eight += kSharing) {
        [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < 8u; ++i) {
            uint key = 8u * eight + i;
            largest = is_among(key, allowed.begin, allowed.count) ? max(largest, score_of(key)) : largest;
        }
    }
    return row_max(largest);
}

// Of a key in the own row: 0 if it is not among the allowed ones, else factor * exp(score - largest).
float weight_of(uint key, Keys allowed, float largest, float factor) {
    bool sees = is_among(key, allowed.begin, allowed.count);
    return sees ? factor * precise_exp(score_of(key) - exponent_base(largest)) : 0.0;
}

// Puts the own row's eight numbers of keys from 8 * eight into the table at `to`.
void put_pairs(uint to, uint eight, float values[8]) {
    uint at = to + own_row() * kWeightPitch + 4u * eight;
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < 4u; ++i) {
        memory[at + i] = pair_of(values[2u * i], values[2u * i + 1u]);
    }
}

// Matrices of a [rows, columns] result: each subgroup has every kSubgroups-th.
#define tiles_of(rows, columns) (rows / kM * (columns / kN))
#define own_tiles(rows, columns) ((tiles_of(rows, columns) + kSubgroups - 1u) / kSubgroups)
uint own_tile(uint i) { return i * kSubgroups + subgroup(); }
uint row_of_tile(uint tile, uint columns) { return tile / (columns / kN) * kM; }
uint column_of_tile(uint tile, uint columns) { return tile % (columns / kN) * kN; }

// sums += a b. The operands' first kK terms begin at a_at and b_at, the next ones a_step and b_step words later.
#define HEADSCOPE_ADD_PRODUCT(sums, terms, load_a_part, a_at, a_pitch, a_step, load_b_part, b_at, b_pitch, b_step) \
    [[HEADSCOPE_UNROLL]] for (uint step = 0u; step < terms / kK; ++step) {                                         \
        MatrixA a_part;                                                                                            \
        MatrixB b_part;                                                                                            \
        load_a_part(a_part, a_at + step * (a_step), a_pitch);                                                      \
        load_b_part(b_part, b_at + step * (b_step), b_pitch);                                                      \
        multiply_add(a_part, b_part, sums);                                                                        \
    }
const uint kAlong = kK / 2u;  // words of kK terms that lie together

// [rows, keys] at `to` in F32 = [rows, padded] at `from` times the transpose of [keys, padded] at `other`.
#define HEADSCOPE_SCORES(to, from, other, padded, pitch)                                                        \
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < own_tiles(kRows, kKeys); ++i) {                                  \
        uint tile = own_tile(i);                                                                                \
        if (tile < tiles_of(kRows, kKeys)) {                                                                    \
            uint row = row_of_tile(tile, kKeys);                                                                \
            uint key = column_of_tile(tile, kKeys);                                                             \
            MatrixC sums = zero_matrix();                                                                       \
            HEADSCOPE_ADD_PRODUCT(sums, padded, load_a, from + row * pitch, pitch, kAlong, load_b_across,       \
                                  other + key * pitch, pitch, kAlong)                                           \
            store_sums(sums, to + row * kScorePitch + key, kScorePitch);                                        \
        }                                                                                                       \
    }

// Writes scale * sums, tile `tile` of an output with `rows` rows and `columns` columns, or adds it, by put of
// HEADSCOPE_PUT_ROWS. All invocations must take part, whether their subgroup has such a tile or not.
#define HEADSCOPE_PUT_SUMS(sums, tile, rows, columns, padded_rows, padded, put, base, step, adds, scale)         \
    bool has = tile < tiles_of(padded_rows, padded);                                                             \
    uint results = kScoresAt + subgroup() * kM * kN;                                                             \
    if (has) {                                                                                                   \
        store_sums(sums, results, kN);                                                                           \
    }                                                                                                            \
    subgroup_barrier();                                                                                          \
    for (uint four = subgroup_lane(); has && four < kM * kN / 4u; four += kSubgroupSize) {                       \
        uint row = row_of_tile(tile, padded) + four / (kN / 4u);                                                 \
        uint column = column_of_tile(tile, padded) + four % (kN / 4u) * 4u;                                      \
        uint at = results + 4u * four;                                                                           \
        if (row < rows && column < columns) {                                                                    \
            uvec4 bits = uvec4(memory[at], memory[at + 1u], memory[at + 2u], memory[at + 3u]);                   \
            put(base + row * step, column / 4u, adds, scale * uintBitsToFloat(bits));                            \
        }                                                                                                        \
    }                                                                                                            \
    subgroup_barrier();

#endif

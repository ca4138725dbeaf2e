// One query of attention against keys and values in place.
#pragma once

#include <cstdint>

namespace headscope::cpu {

// The keys or values of a head: rows of `depth` numbers.
struct HeadRows {
    const float* data = nullptr;
    std::int64_t step = 0;
    std::int64_t count = 0;
    std::int64_t depth = 0;

    const float* row(std::int64_t j) const { return data + j * step; }
};

// The same, each of the sequence that a table names (Attention::key_rows).
struct NamedRows {
    HeadRows first;  // of sequence 0
    std::int64_t sequence_step = 0;
    const std::int32_t* names = nullptr;  // of the first row
    std::int64_t name_step = 1;

    const float* row(std::int64_t j) const { return first.row(j) + names[j * name_step] * sequence_step; }
};

// out = softmax(scale * query . keys) . values, with memory for `scratch_of(keys)` numbers.
constexpr std::int64_t scratch_of(std::int64_t keys) {
    return (keys + 15) / 16 * 16;
}
void attend(const float* query, const HeadRows& keys, const HeadRows& values, float scale, float* scratch, float* out);
void attend(const float* query, const NamedRows& keys, const NamedRows& values, float scale, float* scratch,
            float* out);

}  // namespace headscope::cpu

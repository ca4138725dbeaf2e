// One way to load and store, for bench_vulkan_moves: which, says the macro that vulkan_moves.sh defines. The first ways have
// an element for each lane; the others, UNIFORM, a group's elements one after the other at addresses that all lanes share.
#version 450
#extension GL_ARB_gpu_shader_int64 : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_KHR_shader_subgroup_ballot : require

#ifdef UNIFORM
layout(local_size_x = 8) in;
#else
layout(local_size_x = 256) in;
#endif

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Floats { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Words { uint64_t at[]; };
layout(push_constant) uniform Push {
    uint64_t from;
    uint64_t to;
    uint digits[16];
};
layout(binding = 0) readonly buffer FromFours { vec4 from_fours[]; };
layout(binding = 0) readonly buffer FromWords { u64vec4 from_words[]; };
layout(binding = 1) buffer ToFloats { float to_floats[]; };
layout(binding = 1) buffer ToFours { vec4 to_fours[]; };
layout(binding = 1) buffer ToWord { uint64_t to_word[]; };
layout(binding = 1) buffer ToWords { u64vec4 to_words[]; };
layout(binding = 2) uniform textureBuffer from_texels;
layout(binding = 3, rgba32f) uniform writeonly imageBuffer to_texels;

// A loop would hide from llvmpipe that addresses are uniform.
#define TWICE(M, i) M(i) M((i) + 1)
#define FOUR(M, i) TWICE(M, i) TWICE(M, (i) + 2)
#define EIGHT(M, i) FOUR(M, i) FOUR(M, (i) + 4)
#define SIXTEEN(M, i) EIGHT(M, i) EIGHT(M, (i) + 8)
#define SIXTYFOUR(M, i) SIXTEEN(M, i) SIXTEEN(M, (i) + 16) SIXTEEN(M, (i) + 32) SIXTEEN(M, (i) + 48)
#define EVERY_256(M, i) SIXTYFOUR(M, i) SIXTYFOUR(M, (i) + 64) SIXTYFOUR(M, (i) + 128) SIXTYFOUR(M, (i) + 192)
#define LANES(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define EVERY_512(M) EVERY_256(M, 0) EVERY_256(M, 256)
#define EVERY_1024(M) EVERY_256(M, 0) EVERY_256(M, 256) EVERY_256(M, 512) EVERY_256(M, 768)

// What no sum of the elements is, so that nothing is written and nothing can be left out.
const float kNever = -1.0;

void main() {
    const uint i = gl_GlobalInvocationID.x;
#ifdef UNIFORM
    // The group's number, digit by digit: of what is read from push constants llvmpipe knows that all lanes have the same.
    const uint id = gl_WorkGroupID.x;
    const uint group = digits[id & 15] + (digits[id >> 4 & 15] << 4) + (digits[id >> 8 & 15] << 8);
    const uint first = group * 1024;
    const uint lane = gl_SubgroupInvocationID;
    Floats floats = Floats(from + uint64_t(first) * 4);
    Words words = Words(from + uint64_t(first) * 4);
    vec4 sum = vec4(0);
#endif
#if defined(fours)
    to_fours[i] = from_fours[i];
#elif defined(words)
    to_words[i] = from_words[i];
#elif defined(texels)
    to_fours[i] = texelFetch(from_texels, int(i));
#elif defined(texels_both)
    imageStore(to_texels, int(i), texelFetch(from_texels, int(i)));
#elif defined(read_fours)
    if (dot(from_fours[i], vec4(1)) == kNever) {
        to_floats[i] = 0;
    }
#elif defined(read_words)
    const u64vec4 read = from_words[i];
    if ((read.x | read.y | read.z | read.w) == 0) {
        to_floats[i] = 0;
    }
#elif defined(read_texels)
    if (dot(texelFetch(from_texels, int(i)), vec4(1)) == kNever) {
        to_floats[i] = 0;
    }
#elif defined(write_fours)
    to_fours[i] = vec4(i);
#elif defined(uniform_words)
#define COPY(k) to_word[first / 2 + (k)] = words.at[k];
    EVERY_512(COPY)
#elif defined(uniform_floats)
#define COPY(k) to_floats[first + (k)] = floats.at[k];
    EVERY_1024(COPY)
#elif defined(uniform_step)
    Floats moments = Floats(to + uint64_t(first) * 4);
#define STEP(k)                                                                                    \
    {                                                                                              \
        const float gradient = floats.at[k];                                                       \
        const float moment = 0.9 * moments.at[k] + 0.1 * gradient;                                 \
        to_floats[first + (k)] = moment / (sqrt(0.98 + 0.02 * gradient * gradient) + 1e-9);         \
    }
    EVERY_1024(STEP)
#elif defined(broadcast)
#define HAND_OUT(k)                                     \
    {                                                   \
        const vec4 four = subgroupBroadcast(held, k);   \
        to_floats[first_held + 4 * (k)] = four.x;       \
        to_floats[first_held + 4 * (k) + 1] = four.y;   \
        to_floats[first_held + 4 * (k) + 2] = four.z;   \
        to_floats[first_held + 4 * (k) + 3] = four.w;   \
    }
#define BLOCK(k)                                                                    \
    {                                                                               \
        const uint first_held = first + 32 * (k);                                   \
        const vec4 held = texelFetch(from_texels, int(first_held / 4 + lane));      \
        LANES(HAND_OUT)                                                             \
    }
    SIXTEEN(BLOCK, 0)
    SIXTEEN(BLOCK, 16)
#elif defined(read_uniform)
#define ADD(k) sum[(k) & 3] += floats.at[k];
    EVERY_1024(ADD)
    to_floats[group] = sum.x + sum.y + sum.z + sum.w;
#elif defined(read_lanes)
#define PUT(k) put = lane == k ? floats.at[first_put + (k)] : put;
#define ADD(k)                            \
    {                                     \
        const uint first_put = 8 * (k);   \
        float put = 0;                    \
        LANES(PUT)                        \
        sum[(k) & 3] += put;              \
    }
    SIXTYFOUR(ADD, 0)
    SIXTYFOUR(ADD, 64)
    to_floats[group * 8 + lane] = sum.x + sum.y + sum.z + sum.w;
#elif defined(write_words)
    const uint64_t word = uint64_t(group);
#define WRITE(k) to_word[first / 2 + (k)] = word;
    EVERY_512(WRITE)
#endif
}

// One source for several instruction sets: the loader picks the clone for the processor.
#pragma once

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__OPTIMIZE__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEADSCOPE_HAS_CLONES
#if defined(HEADSCOPE_CPU_AT_MOST_AVX2)
#define HEADSCOPE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define HEADSCOPE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
// Sanitizers do not run before the loader resolves clones, and debuggers prefer one body.
#define HEADSCOPE_CLONES
#endif

// For functions called by clones: inlined, they use the clone's instruction set.
#define HEADSCOPE_INLINE inline __attribute__((always_inline))

// One source, several instruction sets: the loader picks the clone that the processor can run.
#pragma once

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__OPTIMIZE__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEADSCOPE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
// Sanitizers do not run before the loader resolves clones, and debuggers prefer one body.
#define HEADSCOPE_CLONES
#endif

// For what a clone calls: inlined, it is compiled for the clone's instruction set.
#define HEADSCOPE_INLINE inline __attribute__((always_inline))

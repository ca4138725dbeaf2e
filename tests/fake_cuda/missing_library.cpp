// Linked by needs_library.cpp with a soname that cannot be found.
extern "C" void headscope_missing_library() {}

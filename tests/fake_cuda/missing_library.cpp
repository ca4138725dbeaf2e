// Linked by needs_library.cpp under a soname by which nobody finds it.
extern "C" void headscope_missing_library() {}

// A library that is neither a module nor a driver, used in place of either.
extern "C" int headscope_no_module() {
    return 0;
}

// A library of a module's name that is none, and of a driver's place that is none either.
extern "C" int headscope_no_module() {
    return 0;
}

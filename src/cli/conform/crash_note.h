// What a program was doing when it crashed, for where others' code runs in it: a driver's compiler may fall.
#pragma once

#include <string_view>

namespace headscope {

// While one is there a crash (SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE) says on standard error what each thread has
// noted, and goes on as it would have. There is one at a time.
class CrashNote {
public:
    CrashNote();
    CrashNote(const CrashNote&) = delete;
    CrashNote& operator=(const CrashNote&) = delete;
    ~CrashNote();

    // From now on what this thread does; only its beginning where it is long. A thread that ends does nothing.
    static void say(std::string_view doing);
};

}  // namespace headscope

// Reports what a program was doing when it crashed, for calls into foreign code such as a driver's compiler.
#pragma once

#include <string_view>

namespace headscope {

// While an object exists, a crash (SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE) prints each thread's note on standard
// error before the previous action runs. At most one object at a time.
class CrashNote {
public:
    CrashNote();
    CrashNote(const CrashNote&) = delete;
    CrashNote& operator=(const CrashNote&) = delete;
    ~CrashNote();

    // Sets this thread's note, truncated if it is long. It is cleared when the thread ends.
    static void set(std::string_view doing);
};

}  // namespace headscope

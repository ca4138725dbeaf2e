// Included before the files of a wheel, which runs with older libraries than those it was linked with: functions whose
// newest version is younger than manylinux_2_34 (glibc 2.34, GCC 11) are linked as their first one, which does the
// same.
#if defined(__x86_64__) && defined(__gnu_linux__)
asm(".symver hypot,hypot@GLIBC_2.2.5");
asm(".symver _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE,"
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
#endif

# cmake -DSOURCE=FOLDER -DOUTPUT=FILE -P WriteCommit.cmake: writes commit.h, with the commit of a Git checkout of SOURCE
# itself, or "unknown" without one, as in a tarball.
set(commit unknown)
file(REAL_PATH ${SOURCE} SOURCE)
execute_process(COMMAND git rev-parse --show-toplevel --short=10 HEAD WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE lines ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE problem)
string(REPLACE "\n" ";" lines "${lines}")
list(LENGTH lines count)
if(problem EQUAL 0 AND count EQUAL 2)
    list(GET lines 0 top)
    if(top STREQUAL SOURCE)
        list(GET lines 1 commit)
    endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define HEADSCOPE_COMMIT \"${commit}\"\n")

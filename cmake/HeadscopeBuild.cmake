# Compiler settings of all targets, and the two functions that declare targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(HEADSCOPE_CCACHE ccache)
if(HEADSCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${HEADSCOPE_CCACHE})
endif()

add_library(headscope_flags INTERFACE)
target_include_directories(headscope_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_compile_options(headscope_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                                   $<$<BOOL:${HEADSCOPE_WERROR}>:-Werror>)
if(HEADSCOPE_SANITIZE)
    target_compile_options(headscope_flags INTERFACE -fsanitize=${HEADSCOPE_SANITIZE} -fno-omit-frame-pointer
                                                       -fno-sanitize-recover=all)
    target_link_options(headscope_flags INTERFACE -fsanitize=${HEADSCOPE_SANITIZE})
endif()

# Finds the libraries from bin, libexec/headscope and the library folder.
include(GNUInstallDirs)
if(BUILD_SHARED_LIBS)
    set(CMAKE_INSTALL_RPATH $ORIGIN $ORIGIN/../${CMAKE_INSTALL_LIBDIR} $ORIGIN/../../${CMAKE_INSTALL_LIBDIR})
endif()

# Unity builds more than halve the time of a whole build, but rebuilding after changing a single file is slower. Files of a
# target define different names, also in anonymous namespaces.
option(HEADSCOPE_UNITY "Compile several files of a target at once" ON)
set(CMAKE_UNITY_BUILD ${HEADSCOPE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
if(HEADSCOPE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-subobject-linkage)  # GCC mistakes included source files for headers
endif()

# For code whose compile time matters more than its run time.
set(HEADSCOPE_QUICK_TO_COMPILE $<$<CONFIG:Release>:-O1>)

# The libraries share a precompiled header, which saves a fifth of the time of a whole build. ccache saves more, and it
# does not know by default what it may keep of files that use one.
set(precompile OFF)
if(NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT CMAKE_CXX_CLANG_TIDY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(precompile ON)
endif()
option(HEADSCOPE_PRECOMPILED_HEADERS "Precompile headers of the standard library" ${precompile})
if(HEADSCOPE_PRECOMPILED_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarms in the code of std::string, which GCC 12 reports as if it were ours where a header is precompiled.
    target_compile_options(headscope_flags INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                                                       -Wno-stringop-overread)
endif()
set(HEADSCOPE_WITHOUT_FMT support tensor)  # its header is among them
function(headscope_precompile_headers)
    if(HEADSCOPE_PRECOMPILED_HEADERS)
        file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/standard_headers.cpp CONTENT "" @ONLY)
        add_library(headscope_standard_headers OBJECT ${CMAKE_BINARY_DIR}/standard_headers.cpp)
        target_link_libraries(headscope_standard_headers PRIVATE headscope_flags fmt::fmt)
        target_precompile_headers(headscope_standard_headers PRIVATE ${PROJECT_SOURCE_DIR}/cmake/standard_headers.h)
    endif()
endfunction()

# Sets `result` to all sources directly in FOLDERS, a list that may contain wildcards.
function(headscope_sources result folders)
    list(TRANSFORM folders PREPEND ${PROJECT_SOURCE_DIR}/)
    list(TRANSFORM folders APPEND /*.cpp)
    file(GLOB sources CONFIGURE_DEPENDS ${folders})
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

# headscope_library(NAME FOLDERS LINKS...): the library headscope_NAME of the sources in FOLDERS, static unless
# BUILD_SHARED_LIBS is set. A bare name among LINKS is another such library.
function(headscope_library name folders)
    headscope_sources(sources "${folders}")
    if(sources)
        set(scope PUBLIC)
        add_library(headscope_${name} ${sources})
        if(HEADSCOPE_PRECOMPILED_HEADERS AND NOT name IN_LIST HEADSCOPE_WITHOUT_FMT)
            target_precompile_headers(headscope_${name} REUSE_FROM headscope_standard_headers)
        endif()
    else()
        set(scope INTERFACE)
        add_library(headscope_${name} INTERFACE)
    endif()
    set(HEADSCOPE_SCOPE_${name} ${scope} PARENT_SCOPE)
    target_link_libraries(headscope_${name} ${scope} $<BUILD_INTERFACE:headscope_flags>)
    target_include_directories(headscope_${name} ${scope} $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/headscope>)
    target_compile_features(headscope_${name} ${scope} cxx_std_20)
    set_target_properties(headscope_${name} PROPERTIES EXPORT_NAME ${name})
    headscope_link(headscope_${name} ${scope} ${ARGN})
endfunction()

# headscope_program(TARGET FOLDERS LINKS...): an executable of the sources in FOLDERS
function(headscope_program target folders)
    headscope_sources(sources "${folders}")
    if(sources)
        add_executable(${target} ${sources})
        if(HEADSCOPE_SANITIZE)
            target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/house/keep_libraries.cpp)
        endif()
        target_link_libraries(${target} PRIVATE headscope_flags)
        headscope_link(${target} PRIVATE ${ARGN})
    endif()
endfunction()

function(headscope_link target scope)
    foreach(item IN LISTS ARGN)
        if(item MATCHES "::" OR item MATCHES "^Headscope" OR item MATCHES "^headscope_")
            target_link_libraries(${target} ${scope} ${item})
        else()
            target_link_libraries(${target} ${scope} headscope_${item})
        endif()
    endforeach()
endfunction()

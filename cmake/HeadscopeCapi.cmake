# headscope_capi(): libheadscope, the C library. It holds all rooms that it needs and shows the functions of
# include/headscope/headscope.h alone.
function(headscope_capi)
    headscope_sources(sources src/capi)
    # What the programs say of themselves, too, and the names of their settings. The rest of the room is no library's.
    add_library(headscope_capi SHARED ${sources} ${PROJECT_SOURCE_DIR}/src/options/version.cpp
                                      ${PROJECT_SOURCE_DIR}/src/options/environment.cpp
                                      ${CMAKE_CURRENT_BINARY_DIR}/version/commit.h)
    headscope_link(headscope_capi PRIVATE headscope_flags answers train conformance_cases)
    target_include_directories(headscope_capi PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                     $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_compile_options(headscope_capi PRIVATE ${HEADSCOPE_QUICK_TO_COMPILE})
    set(script ${PROJECT_SOURCE_DIR}/src/capi/exports.map)
    target_link_options(headscope_capi PRIVATE -Wl,--version-script=${script} -Wl,--no-undefined)
    set_target_properties(headscope_capi PROPERTIES OUTPUT_NAME headscope EXPORT_NAME c SOVERSION 0 LINK_DEPENDS ${script}
                                                    VERSION 0.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH})
    if(SKBUILD)  # pip install: the library as one file, since wheels hold no links
        foreach(room observe paint figures engine vulkan capi)  # those that use what the header names
            if(TARGET headscope_${room})
                target_compile_options(headscope_${room} PRIVATE "SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/older_libraries.h")
            endif()
        endforeach()
        set_target_properties(headscope_capi PROPERTIES VERSION 0)
        install(TARGETS headscope_capi LIBRARY DESTINATION headscope/_lib COMPONENT python NAMELINK_SKIP)
    endif()
endfunction()

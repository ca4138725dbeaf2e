# headscope_version(TARGET FILE): FILE of TARGET gets the version, the compiler and, from a header that follows the
# checkout, the commit.
function(headscope_version target file)
    set(header ${CMAKE_CURRENT_BINARY_DIR}/version/commit.h)
    set(write ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${header} -P
              ${PROJECT_SOURCE_DIR}/cmake/WriteCommit.cmake)
    execute_process(COMMAND git rev-parse --git-path logs/HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE log ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(log "${log}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(NOT EXISTS "${log}" OR IS_DIRECTORY "${log}")  # Git keeps no log of commits here
        set(log "")
    endif()
    add_custom_command(OUTPUT ${header} COMMAND ${write} DEPENDS ${PROJECT_SOURCE_DIR}/cmake/WriteCommit.cmake ${log}
                       VERBATIM)
    target_sources(${target} PRIVATE ${header})
    set_source_files_properties(
        ${file} PROPERTIES OBJECT_DEPENDS ${header} INCLUDE_DIRECTORIES ${CMAKE_CURRENT_BINARY_DIR}/version
                           COMPILE_DEFINITIONS
                           "HEADSCOPE_VERSION=\"${PROJECT_VERSION}\";HEADSCOPE_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\"")
endfunction()

# The viewer needs Dear ImGui, GLFW and Vulkan. AUTO builds it if all three are found, and otherwise reports what is
# missing.
set(HEADSCOPE_VIEWER AUTO CACHE STRING "Build the desktop viewer: AUTO, ON or OFF")
set_property(CACHE HEADSCOPE_VIEWER PROPERTY STRINGS AUTO ON OFF)

# Defines the target HeadscopeImgui; if that is impossible, sets `result` to the reason.
function(headscope_find_viewer result)
    set(${result} "" PARENT_SCOPE)
    find_package(glfw3 3.3 QUIET)
    if(NOT glfw3_FOUND)
        set(${result} "GLFW 3.3 was not found (libglfw3-dev)" PARENT_SCOPE)
        return()
    endif()
    find_package(Vulkan QUIET)
    if(NOT Vulkan_FOUND)
        set(${result} "Vulkan was not found (libvulkan-dev)" PARENT_SCOPE)
        return()
    endif()
    find_path(HEADSCOPE_IMGUI_INCLUDE imgui.h PATH_SUFFIXES imgui)
    find_path(HEADSCOPE_IMGUI_BACKENDS imgui_impl_vulkan.h HINTS ${HEADSCOPE_IMGUI_INCLUDE}
              PATH_SUFFIXES backends imgui/backends imgui)
    find_path(HEADSCOPE_IMGUI_STDLIB imgui_stdlib.h HINTS ${HEADSCOPE_IMGUI_INCLUDE}
              PATH_SUFFIXES misc/cpp imgui/misc/cpp imgui)
    find_library(HEADSCOPE_IMGUI_LIBRARY imgui)
    if(NOT HEADSCOPE_IMGUI_INCLUDE OR NOT HEADSCOPE_IMGUI_BACKENDS OR NOT HEADSCOPE_IMGUI_STDLIB
       OR NOT HEADSCOPE_IMGUI_LIBRARY)
        set(${result} "Dear ImGui with its Vulkan backend was not found (libimgui-dev)" PARENT_SCOPE)
        return()
    endif()
    add_library(HeadscopeImgui INTERFACE)
    target_include_directories(HeadscopeImgui SYSTEM INTERFACE ${HEADSCOPE_IMGUI_INCLUDE} ${HEADSCOPE_IMGUI_BACKENDS}
                                                               ${HEADSCOPE_IMGUI_STDLIB})
    target_link_libraries(HeadscopeImgui INTERFACE ${HEADSCOPE_IMGUI_LIBRARY} glfw Vulkan::Vulkan)
    # Debian builds Dear ImGui without its copy of stb.
    find_library(HEADSCOPE_STB_LIBRARY stb)
    if(HEADSCOPE_STB_LIBRARY)
        target_link_libraries(HeadscopeImgui INTERFACE ${HEADSCOPE_STB_LIBRARY})
    endif()
endfunction()

function(headscope_viewer)
    if(HEADSCOPE_VIEWER STREQUAL "OFF")
        return()
    endif()
    headscope_find_viewer(problem)
    if(problem AND HEADSCOPE_VIEWER STREQUAL "AUTO")
        message(STATUS "Headscope: viewer disabled: ${problem}")
        return()
    elseif(problem)
        message(FATAL_ERROR "Headscope: cannot build the viewer (HEADSCOPE_VIEWER=${HEADSCOPE_VIEWER}): ${problem}.")
    endif()
    headscope_library(window viewer/window support fmt::fmt HeadscopeImgui)
    headscope_library(viewer_draw viewer/draw paint HeadscopeImgui)
    headscope_library(viewer_ui viewer/ui viewer_panels window viewer_draw)
    # Vulkan structures initialise only non-zero members.
    target_compile_options(headscope_window PRIVATE -Wno-missing-field-initializers)
    set_source_files_properties(viewer/ui/about.cpp PROPERTIES COMPILE_DEFINITIONS HEADSCOPE_VERSION="${PROJECT_VERSION}")
    # The window explains its panels and the terms of the documents.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/glossary.md
                                                                   ${PROJECT_SOURCE_DIR}/docs/viewer.md)
    file(READ ${PROJECT_SOURCE_DIR}/docs/glossary.md HEADSCOPE_GLOSSARY)
    file(READ ${PROJECT_SOURCE_DIR}/docs/viewer.md HEADSCOPE_VIEWER_PAGE)
    configure_file(${PROJECT_SOURCE_DIR}/viewer/ui/documents.cpp.in documents.cpp @ONLY)
    target_sources(headscope_viewer_ui PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/documents.cpp)
    # A separate program, so that headscope itself needs neither a display nor Vulkan.
    headscope_program(headscope-viewer viewer/program viewer_ui viewer_options)
    add_dependencies(headscope headscope-viewer)
endfunction()

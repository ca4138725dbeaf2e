# The viewer: Dear ImGui, GLFW and Vulkan. AUTO builds it where all three are found and says what is missing where not.
set(HEADSCOPE_VIEWER AUTO CACHE STRING "Build the desktop viewer: AUTO, ON or OFF")
set_property(CACHE HEADSCOPE_VIEWER PROPERTY STRINGS AUTO ON OFF)

# Sets `result` to why the viewer cannot be built, empty where it can; makes the target HeadscopeImgui.
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
        message(STATUS "Headscope: the viewer is left out: ${problem}")
        return()
    elseif(problem)
        message(FATAL_ERROR "Headscope: the viewer was asked for (HEADSCOPE_VIEWER=${HEADSCOPE_VIEWER}): ${problem}.")
    endif()
    headscope_library(window viewer/window support fmt::fmt HeadscopeImgui)
    headscope_library(viewer_draw viewer/draw paint HeadscopeImgui)
    headscope_library(viewer_ui viewer/ui viewer_panels window viewer_draw)
    # Vulkan's structures name what is not zero.
    target_compile_options(headscope_window PRIVATE -Wno-missing-field-initializers)
    set_source_files_properties(viewer/ui/about.cpp PROPERTIES COMPILE_DEFINITIONS
                                HEADSCOPE_VERSION="${PROJECT_VERSION}")
    # A program of its own, so that headscope itself starts where there is no display and no Vulkan.
    headscope_program(headscope-viewer viewer/program viewer_ui viewer_options)
    add_dependencies(headscope headscope-viewer)
endfunction()

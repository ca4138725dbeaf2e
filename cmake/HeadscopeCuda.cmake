# The CUDA modules, libheadscope_cuda12.so and libheadscope_cuda13.so: the backend built with each toolkit. The program
# loads the one that the machine supports. Uses custom commands instead of CMake's CUDA language, which supports only one
# toolkit, does not know nvcc's C++20 in CMake 3.25, and fails its compiler test if nvcc lacks its default architecture.
#
#   HEADSCOPE_CUDA                AUTO: if a toolkit is found; DRIVER: if NVIDIA's driver is loaded, too; ON: an error
#                                 without a toolkit; OFF
#   HEADSCOPE_CUDA_TOOLKITS       folders of toolkits, one module each; empty: nvcc in PATH, CUDA_PATH or /usr/local/cuda
#   HEADSCOPE_CUDA_ARCHITECTURES  "75;90;90-virtual": machine code for sm_75 and sm_90, PTX for compute_90. "all": for
#                                 distribution. Empty: for this machine's GPUs; if there is none, or the toolkit does not
#                                 support it, the oldest PTX of the toolkit, which every driver compiles for its GPU.
set(HEADSCOPE_CUDA AUTO CACHE STRING "Build the CUDA modules: AUTO, DRIVER, ON or OFF")
set(HEADSCOPE_CUDA_TOOLKITS "" CACHE STRING "Folders of CUDA toolkits; empty: search")
set(HEADSCOPE_CUDA_ARCHITECTURES "" CACHE STRING "Such as 75;90;90-virtual, or all; empty: this machine's GPUs")

set(HEADSCOPE_CUDA_OLDEST_TOOLKIT 12.0)

# Sets `found` to the toolkits' folders.
function(headscope_cuda_toolkits found)
    if(HEADSCOPE_CUDA_TOOLKITS)
        set(${found} ${HEADSCOPE_CUDA_TOOLKITS} PARENT_SCOPE)
        return()
    endif()
    find_program(HEADSCOPE_NVCC nvcc PATHS ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
    if(HEADSCOPE_NVCC)
        file(REAL_PATH ${HEADSCOPE_NVCC} nvcc)
        if(NOT nvcc MATCHES "/nvcc$")  # a launcher under nvcc's name
            set(nvcc ${HEADSCOPE_NVCC})
        endif()
        cmake_path(GET nvcc PARENT_PATH bin)
        cmake_path(GET bin PARENT_PATH root)
        set(${found} ${root} PARENT_SCOPE)
    endif()
endfunction()

# Sets `version` to the version of the toolkit in `root`, such as "12.4"; if unusable, to "" and sets `reason`.
function(headscope_cuda_version root version reason)
    set(${version} "" PARENT_SCOPE)
    execute_process(COMMAND ${root}/bin/nvcc --version OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE result)
    if(NOT result EQUAL 0 OR NOT text MATCHES "release ([0-9]+\\.[0-9]+)")
        set(${reason} "cannot determine the version of ${root}/bin/nvcc" PARENT_SCOPE)
        return()
    endif()
    set(found ${CMAKE_MATCH_1})
    if(found VERSION_LESS HEADSCOPE_CUDA_OLDEST_TOOLKIT)
        set(${reason} "CUDA ${found} in ${root} is too old: C++20 needs ${HEADSCOPE_CUDA_OLDEST_TOOLKIT} or newer"
            PARENT_SCOPE)
        return()
    endif()
    set(${version} ${found} PARENT_SCOPE)
endfunction()

# Sets `cards` to the architectures of this machine's GPUs, such as "90;75"; may be empty.
function(headscope_cuda_cards cards)
    set(${cards} "" PARENT_SCOPE)
    find_program(HEADSCOPE_NVIDIA_SMI nvidia-smi)
    if(HEADSCOPE_NVIDIA_SMI)
        execute_process(COMMAND ${HEADSCOPE_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                        OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE result)
        if(result EQUAL 0)
            string(REGEX MATCHALL "[0-9]+\\.[0-9]+" found "${text}")
            list(TRANSFORM found REPLACE "\\." "")
            list(REMOVE_DUPLICATES found)
            set(${cards} "${found}" PARENT_SCOPE)
        endif()
    endif()
endfunction()

# The architectures of HEADSCOPE_CUDA_ARCHITECTURES for this toolkit. P100 is sm_60, H200 sm_90.
function(headscope_cuda_architectures version architectures)
    if(version VERSION_LESS 13)
        set(all 60 70 75 80 86 89 90 90-virtual)
    else()
        set(all 75 80 86 89 90 100 120 120-virtual)
    endif()
    set(chosen ${HEADSCOPE_CUDA_ARCHITECTURES})
    if(chosen STREQUAL "all")
        set(chosen ${all})
    elseif(NOT chosen)
        headscope_cuda_cards(cards)
        list(GET all 0 oldest)
        set(chosen "")
        set(others ${cards})
        list(REMOVE_ITEM others ${all})
        foreach(card IN LISTS cards)
            if(card IN_LIST all)
                list(APPEND chosen ${card})
            endif()
        endforeach()
        if(others OR NOT chosen)
            list(APPEND chosen ${oldest}-virtual)
        endif()
    endif()
    set(${architectures} ${chosen} PARENT_SCOPE)
endfunction()

# Sets `file` to the library `name` of the toolkit in `root`, or to NOTFOUND.
function(headscope_cuda_library root name file)
    unset(path)
    find_library(path ${name} HINTS ${root} PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib lib/x86_64-linux-gnu
                 NO_DEFAULT_PATH NO_CACHE)
    set(${file} ${path} PARENT_SCOPE)
endfunction()

# Sets `headers` to the toolkit's include folder, and `reason` if something is missing or nvcc does not support this
# compiler: each toolkit supports compilers up to some version. Modules share classes with the program, so both need the
# same compiler.
function(headscope_cuda_usable root headers reason)
    set(${reason} "" PARENT_SCOPE)
    unset(include)
    find_path(include cuda_runtime.h HINTS ${root} PATH_SUFFIXES include targets/x86_64-linux/include NO_DEFAULT_PATH
              NO_CACHE)
    set(${headers} ${include} PARENT_SCOPE)
    if(NOT include)
        set(${reason} "the toolkit in ${root} has no cuda_runtime.h: install its development files." PARENT_SCOPE)
        return()
    endif()
    foreach(library cudart_static cublas cublasLt)
        headscope_cuda_library(${root} ${library} file)
        if(NOT file)
            set(${reason} "the toolkit in ${root} has no lib${library}: install its development files." PARENT_SCOPE)
            return()
        endif()
    endforeach()
    set(probe ${CMAKE_CURRENT_BINARY_DIR}/cuda_probe)
    file(WRITE ${probe}.cu "#include <string>\n__global__ void probe() {}\n")
    execute_process(COMMAND ${root}/bin/nvcc -std=c++20 -ccbin ${CMAKE_CXX_COMPILER} -c ${probe}.cu -o ${probe}.o
                    OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        string(STRIP "${text}" text)
        set(${reason} "${root}/bin/nvcc does not work with ${CMAKE_CXX_COMPILER}: set CMAKE_CXX_COMPILER to an older \
compiler. Its output:\n${text}" PARENT_SCOPE)
    endif()
endfunction()

# Builds one module with the toolkit in `root`.
function(headscope_cuda_module root version)
    string(REGEX MATCH "^[0-9]+" major ${version})
    set(name headscope_cuda${major})
    headscope_cuda_usable(${root} include reason)
    if(reason)
        if(HEADSCOPE_CUDA STREQUAL "ON" OR HEADSCOPE_CUDA_TOOLKITS)
            message(FATAL_ERROR "HEADSCOPE_CUDA: ${reason}")
        endif()
        message(STATUS "Headscope: CUDA module disabled: ${reason}")
        return()
    endif()
    set(folder ${PROJECT_SOURCE_DIR}/backends/cuda)
    set(objects ${CMAKE_CURRENT_BINARY_DIR}/cuda${major})
    file(MAKE_DIRECTORY ${objects})
    headscope_cuda_architectures(${version} architectures)
    set(code "")
    set(machine_code "")
    set(ptx 0)
    foreach(architecture IN LISTS architectures)
        if(architecture MATCHES "^([0-9]+)-virtual$")
            list(APPEND code -gencode=arch=compute_${CMAKE_MATCH_1},code=compute_${CMAKE_MATCH_1})
            set(ptx ${CMAKE_MATCH_1})
        else()
            list(APPEND code -gencode=arch=compute_${architecture},code=sm_${architecture})
            list(APPEND machine_code ${architecture})
        endif()
    endforeach()
    list(SORT machine_code COMPARE NATURAL)
    foreach(library cudart_static cublas cublasLt)
        headscope_cuda_library(${root} ${library} file_of_${library})
    endforeach()

    set(flags -std=c++20 --expt-relaxed-constexpr -O3 -ccbin ${CMAKE_CXX_COMPILER} -I${PROJECT_SOURCE_DIR}
        -I${PROJECT_SOURCE_DIR}/src -Xcompiler=-fPIC,-fvisibility=hidden,-Wall,-Wextra -Wno-deprecated-gpu-targets)
    if(HEADSCOPE_WERROR)
        list(APPEND flags -Werror=all-warnings -Xcompiler=-Werror)
    endif()
    set(launcher "")
    if(HEADSCOPE_CCACHE)
        set(launcher ${HEADSCOPE_CCACHE})
    endif()
    file(GLOB kernels CONFIGURE_DEPENDS ${folder}/*.cu)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    foreach(kernel IN LISTS kernels)
        cmake_path(GET kernel STEM stem)
        set(object ${objects}/${stem}.o)
        add_custom_command(
            OUTPUT ${object}
            COMMAND ${launcher} ${root}/bin/nvcc ${flags} ${code} -MD -MF ${object}.d -MT ${object} -c ${kernel} -o ${object}
            DEPENDS ${kernel}
            DEPFILE ${object}.d
            COMMENT "CUDA ${version} ${stem}"
            VERBATIM COMMAND_EXPAND_LISTS)
        list(APPEND sources ${object})
        set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    endforeach()

    add_library(${name} MODULE ${sources})
    set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_include_directories(${name} SYSTEM PRIVATE ${include})
    string(JOIN "," list_of_machine_code ${machine_code} 0)
    target_compile_definitions(${name} PRIVATE HEADSCOPE_CUDA_CONTRACT="${HEADSCOPE_CUDA_CONTRACT}"
                                               HEADSCOPE_CUDA_ARCHITECTURES=${list_of_machine_code}
                                               HEADSCOPE_CUDA_PTX=${ptx} HEADSCOPE_CUDA_EMULATED=false)
    headscope_link(${name} PRIVATE headscope_flags backend fmt::fmt)
    target_link_libraries(${name} PRIVATE ${file_of_cudart_static} ${file_of_cublas} ${file_of_cublasLt} Threads::Threads rt
                                          ${CMAKE_DL_LIBS})
    message(STATUS "Headscope: CUDA ${version} from ${root} for ${architectures}")
    set_property(GLOBAL APPEND PROPERTY HEADSCOPE_CUDA_MODULE_TARGETS ${name})
endfunction()

function(headscope_cuda_modules)
    if(HEADSCOPE_CUDA STREQUAL "OFF")
        message(STATUS "Headscope: CUDA modules disabled (HEADSCOPE_CUDA=OFF)")
        return()
    endif()
    if(HEADSCOPE_CUDA STREQUAL "DRIVER" AND NOT EXISTS /dev/nvidiactl AND NOT EXISTS /dev/dxg)  # the latter in WSL
        message(STATUS "Headscope: CUDA modules left out: NVIDIA's driver is not loaded (HEADSCOPE_CUDA=DRIVER)")
        return()
    endif()
    headscope_cuda_toolkits(roots)
    if(NOT roots)
        if(HEADSCOPE_CUDA STREQUAL "ON")
            message(FATAL_ERROR "HEADSCOPE_CUDA is ON, but there is no nvcc in PATH, CUDA_PATH or /usr/local/cuda: "
                                "install NVIDIA's toolkit (docs/cuda.md), set HEADSCOPE_CUDA_TOOLKITS, or set "
                                "HEADSCOPE_CUDA=OFF.")
        endif()
        message(STATUS "Headscope: CUDA modules disabled: no CUDA toolkit found (docs/cuda.md)")
    endif()
    foreach(root IN LISTS roots)
        headscope_cuda_version(${root} version reason)
        if(version)
            headscope_cuda_module(${root} ${version})
        elseif(HEADSCOPE_CUDA STREQUAL "ON" OR HEADSCOPE_CUDA_TOOLKITS)
            message(FATAL_ERROR "HEADSCOPE_CUDA: ${reason}.")
        else()
            message(STATUS "Headscope: CUDA module disabled: ${reason}")
        endif()
    endforeach()
endfunction()

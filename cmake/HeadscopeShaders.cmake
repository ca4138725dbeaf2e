# Compiles GLSL to SPIR-V at build time, validates it, and embeds it in the library as C++ arrays.

# Those of the Vulkan SDK come first, as in CMake's FindVulkan, which finds the viewer's loader.
find_program(HEADSCOPE_GLSLANG glslangValidator HINTS ENV VULKAN_SDK PATH_SUFFIXES bin)
find_program(HEADSCOPE_SPIRV_VAL spirv-val HINTS ENV VULKAN_SDK PATH_SUFFIXES bin)
find_path(HEADSCOPE_VULKAN_INCLUDE vulkan/vulkan.h HINTS ENV VULKAN_SDK PATH_SUFFIXES include)
foreach(item "HEADSCOPE_GLSLANG|glslangValidator|glslang-tools" "HEADSCOPE_SPIRV_VAL|spirv-val|spirv-tools"
        "HEADSCOPE_VULKAN_INCLUDE|vulkan/vulkan.h|libvulkan-dev")
    string(REPLACE "|" ";" item "${item}")
    list(GET item 0 variable)
    list(GET item 1 wanted)
    list(GET item 2 debian)
    if(NOT ${variable})
        message(FATAL_ERROR "HEADSCOPE_VULKAN is ON and ${wanted} was not found: install ${debian} (Vulkan needs "
                            "libvulkan-dev glslang-tools spirv-tools; ./do installs them), or set HEADSCOPE_VULKAN=OFF.")
    endif()
endforeach()

# Compilers before version 13 do not know VK_KHR_cooperative_matrix, which the precompiled shaders need, and some need
# more: GL_EXT_bfloat16. Those of Debian 12, and 13, use the output of shaders/precompiled/make.sh.
set(HEADSCOPE_GLSLANG_FOR_PRECOMPILED 13)
set(HEADSCOPE_GLSLANG_FOR_matmul_cooperative_bf16 16)
execute_process(COMMAND ${HEADSCOPE_GLSLANG} --version OUTPUT_VARIABLE glslang_output)
string(REGEX MATCH "Glslang Version: [0-9]+:([0-9.]+)" glslang_output "${glslang_output}")
set(HEADSCOPE_GLSLANG_VERSION ${CMAKE_MATCH_1})

# headscope_shader(NAME SOURCE DEFINITIONS...): compiles one module, or uses the precompiled one if the compiler is too
# old, and appends its embedded source to `sources`. That source compares the module with the lists that the shader's
# HEADSCOPE_KERNEL names.
function(headscope_shader name source)
    set(spirv ${CMAKE_CURRENT_BINARY_DIR}/spirv/${name}.spv)
    set(embedded ${CMAKE_CURRENT_BINARY_DIR}/spirv/${name}.cpp)
    set(template ${PROJECT_SOURCE_DIR}/backends/vulkan/module.cpp.in)
    set(sources ${sources} ${embedded} PARENT_SCOPE)
    file(STRINGS ${source} kernel REGEX "^HEADSCOPE_KERNEL")
    if(NOT kernel MATCHES "^HEADSCOPE_KERNEL\\(([A-Za-z]+), [A-Z_]+, ([A-Z_]+)\\)$")
        message(FATAL_ERROR "${source} has no line HEADSCOPE_KERNEL(Params, BINDINGS, CONSTANTS)")
    endif()
    set(PARAMS ${CMAKE_MATCH_1})
    set(CONSTANTS ${CMAKE_MATCH_2})
    file(RELATIVE_PATH SHADER ${PROJECT_SOURCE_DIR} ${source})
    set(precompiled ${PROJECT_SOURCE_DIR}/shaders/precompiled/${name}.inc)
    get_filename_component(shader ${source} NAME_WE)
    set(known_from ${HEADSCOPE_GLSLANG_FOR_PRECOMPILED})
    if(DEFINED HEADSCOPE_GLSLANG_FOR_${shader})
        set(known_from ${HEADSCOPE_GLSLANG_FOR_${shader}})
    endif()
    if(EXISTS ${precompiled} AND HEADSCOPE_GLSLANG_VERSION VERSION_LESS known_from)
        set(NAME ${name})
        set(WORDS "#include \"${precompiled}\"\n")
        configure_file(${template} ${embedded} @ONLY)
        return()
    endif()
    list(TRANSFORM ARGN PREPEND -D OUTPUT_VARIABLE definitions)
    add_custom_command(
        OUTPUT ${spirv} ${embedded}  # the depfile's target must come first, else it is always rebuilt
        COMMAND ${HEADSCOPE_GLSLANG} --quiet --target-env vulkan1.2 -I${PROJECT_SOURCE_DIR}/shaders/include ${definitions}
                --depfile ${spirv}.d -o ${spirv} ${source}
        COMMAND ${HEADSCOPE_SPIRV_VAL} --target-env vulkan1.2 --scalar-block-layout ${spirv}
        COMMAND ${CMAKE_COMMAND} -DSPIRV=${spirv} -DEMBEDDED=${embedded} -DTEMPLATE=${template} -DNAME=${name}
                -DSHADER=${SHADER} -DPARAMS=${PARAMS} -DCONSTANTS=${CONSTANTS}
                -P ${PROJECT_SOURCE_DIR}/cmake/EmbedSpirv.cmake
        DEPENDS ${source} ${template} ${PROJECT_SOURCE_DIR}/cmake/EmbedSpirv.cmake
        DEPFILE ${spirv}.d
        COMMENT "Shader ${name}"
        VERBATIM)
endfunction()

# headscope_shaders(TARGET): every shaders/*.comp becomes an enumerator of Kernel (add_scaled.comp: Kernel::AddScaled) and
# one to five SPIR-V modules in TARGET. A shader that includes reduce.glsl is also compiled without subgroup operations,
# one that includes fours.glsl or operands.glsl with texel buffers, and one that includes storage.glsl for 16-bit tensors.
function(headscope_shaders target)
    file(GLOB shaders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/shaders/*.comp)
    # A shader's includes determine its modules.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${shaders})
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/spirv)
    file(MAKE_DIRECTORY ${folder})
    set(sources "")
    set(kernels "")
    set(list "")
    set(declarations "")
    set(entries "")
    foreach(shader IN LISTS shaders)
        get_filename_component(name ${shader} NAME_WE)
        string(REPLACE "_" ";" words ${name})
        set(kernel "")
        foreach(word IN LISTS words)
            string(SUBSTRING ${word} 0 1 head)
            string(SUBSTRING ${word} 1 -1 tail)
            string(TOUPPER ${head} head)
            string(APPEND kernel ${head}${tail})
        endforeach()
        headscope_shader(${name} ${shader} HEADSCOPE_SUBGROUPS)
        set(plain ${name})
        file(STRINGS ${shader} reduces REGEX "#include \"reduce.glsl\"")
        if(reduces)
            set(plain ${name}_shared)
            headscope_shader(${plain} ${shader})
            string(APPEND declarations "extern const std::span<const std::uint32_t> spirv_${plain};\n")
        endif()
        set(texels "{}")
        file(STRINGS ${shader} loads_texels REGEX "#include \"(fours|operands).glsl\"")
        if(loads_texels)
            headscope_shader(${name}_texels ${shader} HEADSCOPE_SUBGROUPS HEADSCOPE_TEXELS)
            set(texels spirv_${name}_texels)
            string(APPEND declarations "extern const std::span<const std::uint32_t> ${texels};\n")
        endif()
        set(narrow "{}, {}")
        file(STRINGS ${shader} stores REGEX "#include \"storage.glsl\"")
        if(stores)
            headscope_shader(${name}_16 ${shader} HEADSCOPE_SUBGROUPS HEADSCOPE_16_BITS)
            set(plain_16 ${name}_16)
            string(APPEND declarations "extern const std::span<const std::uint32_t> spirv_${name}_16;\n")
            if(reduces)
                set(plain_16 ${plain}_16)
                headscope_shader(${plain_16} ${shader} HEADSCOPE_16_BITS)
                string(APPEND declarations "extern const std::span<const std::uint32_t> spirv_${plain_16};\n")
            endif()
            set(narrow "spirv_${name}_16, spirv_${plain_16}")
        endif()
        string(APPEND kernels "    ${kernel},\n")
        list(APPEND list Kernel::${kernel})
        string(APPEND declarations "extern const std::span<const std::uint32_t> spirv_${name};\n")
        string(APPEND entries 
            "        case Kernel::${kernel}: return {\"${name}\", spirv_${name}, spirv_${plain}, ${texels}, ${narrow}};\n")
    endforeach()
    set(HEADSCOPE_KERNELS "${kernels}")
    list(JOIN list ", " HEADSCOPE_KERNEL_LIST)
    set(HEADSCOPE_KERNEL_DECLARATIONS "${declarations}")
    set(HEADSCOPE_KERNEL_ENTRIES "${entries}")
    configure_file(${PROJECT_SOURCE_DIR}/backends/vulkan/kernels.h.in ${folder}/kernels.h @ONLY)
    configure_file(${PROJECT_SOURCE_DIR}/backends/vulkan/kernels.cpp.in ${folder}/kernels.cpp @ONLY)
    target_sources(${target} PRIVATE ${sources} ${folder}/kernels.cpp)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
endfunction()

# The libraries that every build needs. A missing one is an error with the name of the Debian package.

# A macro, so that the package's variables, such as its version, are visible to the caller.
macro(headscope_require package debian)
    find_package(${package} QUIET ${ARGN})
    if(NOT ${package}_FOUND)
        message(FATAL_ERROR "Headscope needs ${package}: install ${debian} (./do does it), then configure again.")
    endif()
endmacro()

headscope_require(Threads libc6-dev)
headscope_require(fmt libfmt-dev)
headscope_require(nlohmann_json nlohmann-json3-dev)
headscope_require(CLI11 libcli11-dev)
headscope_require(ZLIB zlib1g-dev)
headscope_require(BZip2 libbz2-dev)
headscope_require(LibLZMA liblzma-dev)

find_path(SENTENCEPIECE_INCLUDE sentencepiece_processor.h)
find_library(SENTENCEPIECE_LIBRARY sentencepiece)
find_library(SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train)
if(NOT SENTENCEPIECE_INCLUDE OR NOT SENTENCEPIECE_LIBRARY OR NOT SENTENCEPIECE_TRAIN_LIBRARY)
    message(FATAL_ERROR "Headscope needs SentencePiece: install libsentencepiece-dev (./do does it), then configure again.")
endif()
add_library(HeadscopeSentencePiece INTERFACE)
target_include_directories(HeadscopeSentencePiece SYSTEM INTERFACE ${SENTENCEPIECE_INCLUDE})
target_link_libraries(HeadscopeSentencePiece INTERFACE ${SENTENCEPIECE_TRAIN_LIBRARY} ${SENTENCEPIECE_LIBRARY})

# Some distributions lack CMake files for zstd.
find_path(HEADSCOPE_ZSTD_INCLUDE NAMES zstd.h)
find_library(HEADSCOPE_ZSTD_LIBRARY NAMES zstd)
if(NOT HEADSCOPE_ZSTD_INCLUDE OR NOT HEADSCOPE_ZSTD_LIBRARY)
    message(FATAL_ERROR "Headscope needs zstd: install libzstd-dev (./do does it), then configure again.")
endif()
add_library(HeadscopeZstd INTERFACE)
target_include_directories(HeadscopeZstd SYSTEM INTERFACE ${HEADSCOPE_ZSTD_INCLUDE})
target_link_libraries(HeadscopeZstd INTERFACE ${HEADSCOPE_ZSTD_LIBRARY})

# For Unicode normal forms, categories and case folding. Debian's package has no CMake files.
find_path(HEADSCOPE_UTF8PROC_INCLUDE NAMES utf8proc.h)
find_library(HEADSCOPE_UTF8PROC_LIBRARY NAMES utf8proc)
if(NOT HEADSCOPE_UTF8PROC_INCLUDE OR NOT HEADSCOPE_UTF8PROC_LIBRARY)
    message(FATAL_ERROR "Headscope needs utf8proc: install libutf8proc-dev (./do does it), then configure again.")
endif()
add_library(HeadscopeUtf8proc INTERFACE)
target_include_directories(HeadscopeUtf8proc SYSTEM INTERFACE ${HEADSCOPE_UTF8PROC_INCLUDE})
target_link_libraries(HeadscopeUtf8proc INTERFACE ${HEADSCOPE_UTF8PROC_LIBRARY})

# For the regular expressions of tokenizers.
find_path(HEADSCOPE_PCRE2_INCLUDE NAMES pcre2.h)
find_library(HEADSCOPE_PCRE2_LIBRARY NAMES pcre2-8)
if(NOT HEADSCOPE_PCRE2_INCLUDE OR NOT HEADSCOPE_PCRE2_LIBRARY)
    message(FATAL_ERROR "Headscope needs PCRE2: install libpcre2-dev (./do does it), then configure again.")
endif()
add_library(HeadscopePcre2 INTERFACE)
target_include_directories(HeadscopePcre2 SYSTEM INTERFACE ${HEADSCOPE_PCRE2_INCLUDE})
target_link_libraries(HeadscopePcre2 INTERFACE ${HEADSCOPE_PCRE2_LIBRARY})

# For vocabularies of Marian. The name of its CMake target depends on the version.
find_path(HEADSCOPE_YAML_INCLUDE NAMES yaml-cpp/yaml.h)
find_library(HEADSCOPE_YAML_LIBRARY NAMES yaml-cpp)
if(NOT HEADSCOPE_YAML_INCLUDE OR NOT HEADSCOPE_YAML_LIBRARY)
    message(FATAL_ERROR "Headscope needs yaml-cpp: install libyaml-cpp-dev (./do does it), then configure again.")
endif()
add_library(HeadscopeYaml INTERFACE)
target_include_directories(HeadscopeYaml SYSTEM INTERFACE ${HEADSCOPE_YAML_INCLUDE})
target_link_libraries(HeadscopeYaml INTERFACE ${HEADSCOPE_YAML_LIBRARY})

# Single headers: stb_truetype for glyph outlines; the tests read PNG files with stb_image.
find_path(HEADSCOPE_STB_INCLUDE NAMES stb/stb_truetype.h)
if(NOT HEADSCOPE_STB_INCLUDE)
    message(FATAL_ERROR "Headscope needs stb: install libstb-dev (./do does it), then configure again.")
endif()
add_library(HeadscopeStb INTERFACE)
target_include_directories(HeadscopeStb SYSTEM INTERFACE ${HEADSCOPE_STB_INCLUDE})

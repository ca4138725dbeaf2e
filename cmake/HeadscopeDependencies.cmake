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

# headscope_require_library(NAME DEBIAN HEADER LIBRARY...): the interface library HeadscopeNAME. For libraries whose
# packages have no CMake files in some distributions.
function(headscope_require_library name debian header)
    string(TOUPPER HEADSCOPE_${name}_INCLUDE include)
    find_path(${include} NAMES ${header})
    set(libraries "")
    foreach(file ${ARGN})
        string(TOUPPER HEADSCOPE_${file}_LIBRARY library)
        find_library(${library} NAMES ${file})
        list(APPEND libraries ${${library}})
    endforeach()
    if(NOT ${include} OR libraries MATCHES NOTFOUND)
        message(FATAL_ERROR "Headscope needs ${name}: install ${debian} (./do does it), then configure again.")
    endif()
    add_library(Headscope${name} INTERFACE)
    target_include_directories(Headscope${name} SYSTEM INTERFACE ${${include}})
    target_link_libraries(Headscope${name} INTERFACE ${libraries})
    set(HEADSCOPE_REQUIRED_LIBRARIES ${HEADSCOPE_REQUIRED_LIBRARIES} Headscope${name} PARENT_SCOPE)
endfunction()

headscope_require_library(SentencePiece libsentencepiece-dev sentencepiece_processor.h sentencepiece_train sentencepiece)
headscope_require_library(Zstd libzstd-dev zstd.h zstd)
headscope_require_library(Utf8proc libutf8proc-dev utf8proc.h utf8proc)  # normal forms, categories and case folding
headscope_require_library(Pcre2 libpcre2-dev pcre2.h pcre2-8)  # expressions of tokenizers
file(STRINGS ${HEADSCOPE_PCRE2_INCLUDE}/pcre2.h pcre2 REGEX "^#define PCRE2_(MAJOR|MINOR) ")
string(REGEX REPLACE "[^0-9]*2_MAJOR +([0-9]+).*2_MINOR +([0-9]+).*" "\\1.\\2" pcre2 "${pcre2}")
if(pcre2 VERSION_LESS 10.40)
    message(FATAL_ERROR "Headscope needs PCRE2 10.40 or newer, which knows \\p{White_Space}; found ${pcre2}.")
endif()
headscope_require_library(Yaml libyaml-cpp-dev yaml-cpp/yaml.h yaml-cpp)  # vocabularies of Marian
# Text of other scripts in pictures: joined, ordered, and in the system's fonts.
headscope_require_library(HarfBuzz libharfbuzz-dev harfbuzz/hb.h harfbuzz)
headscope_require_library(FriBidi libfribidi-dev fribidi/fribidi.h fribidi)
headscope_require_library(Fontconfig libfontconfig-dev fontconfig/fontconfig.h fontconfig)

# Single headers: stb_truetype for glyph outlines, stb_image for PNG and JPEG files.
find_path(HEADSCOPE_STB_INCLUDE NAMES stb/stb_truetype.h)
if(NOT HEADSCOPE_STB_INCLUDE)
    message(FATAL_ERROR "Headscope needs stb: install libstb-dev (./do does it), then configure again.")
endif()
add_library(HeadscopeStb INTERFACE)
target_include_directories(HeadscopeStb SYSTEM INTERFACE ${HEADSCOPE_STB_INCLUDE})

# cmake -DSPIRV=in.spv -DEMBEDDED=out.cpp -DNAME=name -P EmbedSpirv.cmake
file(READ ${SPIRV} bytes HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," words "${bytes}")
string(REGEX REPLACE "(0x........,0x........,0x........,0x........,0x........,0x........,0x........,0x........,)" "\\1\n"
       words "${words}")
file(WRITE ${EMBEDDED}
     "#include <cstdint>\n#include <span>\n\nnamespace headscope::vulkan {\n\nstatic const std::uint32_t words_${NAME}[] = {\n${words}};\n"
     "extern const std::span<const std::uint32_t> spirv_${NAME};\nconst std::span<const std::uint32_t> spirv_${NAME}(words_${NAME});\n\n}\n")

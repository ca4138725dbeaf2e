# cmake -DSPIRV=in.spv -DEMBEDDED=out.cpp -DTEMPLATE=module.cpp.in -DNAME=name -DSHADER=.. -DPARAMS=.. -DCONSTANTS=.. -P
# EmbedSpirv.cmake
file(READ ${SPIRV} bytes HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," WORDS "${bytes}")
string(REGEX REPLACE "(0x........,0x........,0x........,0x........,0x........,0x........,0x........,0x........,)" "\\1\n"
       WORDS "${WORDS}")
configure_file(${TEMPLATE} ${EMBEDDED} @ONLY)

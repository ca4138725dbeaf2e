# Writes headscope.pc to HEADSCOPE_PC_OUTPUT. Its prefix is relative to the file itself, since cmake --install --prefix
# chooses another one than the configuration, and packages are moved. tests/house/install_test.sh runs it as a script.
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})  # outside of any prefix
    set(HEADSCOPE_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
    file(RELATIVE_PATH up /prefix/${pc_folder} /prefix)
    string(REGEX REPLACE "/$" "" up "${up}")
    set(HEADSCOPE_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(kind LIBDIR INCLUDEDIR)
    set(HEADSCOPE_PC_${kind} ${CMAKE_INSTALL_${kind}})
    if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_${kind}})
        string(PREPEND HEADSCOPE_PC_${kind} "\${prefix}/")
    endif()
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/headscope.pc.in ${HEADSCOPE_PC_OUTPUT} @ONLY)

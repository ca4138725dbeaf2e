# cmake --install: the program where programs are, the models where headscope looks for them.
include(GNUInstallDirs)
if(TARGET headscope)
    install(TARGETS headscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# Where the program looks for its CUDA modules (backends/cuda/loader/modules.h).
get_property(cuda_modules GLOBAL PROPERTY HEADSCOPE_CUDA_MODULE_TARGETS)
if(cuda_modules)
    install(TARGETS ${cuda_modules} LIBRARY DESTINATION lib/headscope)
endif()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The fonts' terms ask to stand beside them, and they are part of the program.
install(FILES assets/fonts/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.DejaVu)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY assets/configs assets/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/headscope)
if(EXISTS ${PROJECT_SOURCE_DIR}/assets/models)
    install(DIRECTORY assets/models DESTINATION ${CMAKE_INSTALL_DATADIR}/headscope)
endif()

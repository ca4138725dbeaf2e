# HEADSCOPE_CUDA_CONTRACT: the ABI that a program and its CUDA modules must share (backends/cuda/module.h), as a string
# compiled into both. They share C++ classes, so it contains the version, the compiler, the sanitizers (which change
# class layouts) and a hash of the headers.
file(GLOB contract_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/*.h ${PROJECT_SOURCE_DIR}/src/backend/ops/*.h
     ${PROJECT_SOURCE_DIR}/src/tensor/*.h)
list(APPEND contract_headers ${PROJECT_SOURCE_DIR}/src/support/check.h ${PROJECT_SOURCE_DIR}/src/support/diagnostics.h
     ${PROJECT_SOURCE_DIR}/src/support/settings.h ${PROJECT_SOURCE_DIR}/backends/cuda/module.h)
list(SORT contract_headers)
set(contract_text "")
foreach(header IN LISTS contract_headers)
    file(SHA256 ${header} contract_hash)
    string(APPEND contract_text ${contract_hash})
endforeach()
string(SHA256 contract_hash "${contract_text}")
string(SUBSTRING ${contract_hash} 0 16 contract_hash)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${contract_headers})
set(HEADSCOPE_CUDA_CONTRACT
    "headscope ${PROJECT_VERSION}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, headers ${contract_hash}")
if(HEADSCOPE_SANITIZE)
    string(APPEND HEADSCOPE_CUDA_CONTRACT ", sanitized: ${HEADSCOPE_SANITIZE}")
endif()

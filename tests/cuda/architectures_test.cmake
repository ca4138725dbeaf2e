# What the CUDA modules are compiled for on machines with these cards: cmake -P architectures_test.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/HeadscopeCuda.cmake)

# In place of what nvidia-smi says.
function(headscope_cuda_cards cards)
    set(${cards} "${these_cards}" PARENT_SCOPE)
endfunction()

function(expect version these_cards expected)
    headscope_cuda_architectures(${version} found)
    if(NOT found STREQUAL expected)
        message(SEND_ERROR "CUDA ${version} and cards \"${these_cards}\": expected ${expected}, found ${found}")
    endif()
endfunction()

expect(12.4 "" "60-virtual")
expect(13.0 "" "75-virtual")
expect(13.0 "90" "90")
expect(12.4 "90;75" "90;75")
# Cards that a toolkit has no machine code of compile its oldest PTX, whatever others there are.
expect(13.0 "103" "75-virtual")
expect(13.0 "90;103" "90;75-virtual")
expect(13.0 "103;90;121" "90;75-virtual")
set(HEADSCOPE_CUDA_ARCHITECTURES "75;90-virtual")
expect(13.0 "103" "75;90-virtual")
set(HEADSCOPE_CUDA_ARCHITECTURES all)
expect(12.4 "103" "60;70;75;80;86;89;90;90-virtual")

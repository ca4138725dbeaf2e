// The modules with the CUDA backend: which files there are, what each says of itself, and which of them a card runs.
#pragma once

#include <string>
#include <vector>

#include "backends/cuda/module.h"

namespace headscope::cuda {

// What a choice depends on; Module says what each means.
struct ModuleFacts {
    std::string name;  // "libheadscope_cuda12.so"
    int toolkit = 0;
    std::vector<int> architectures;
    int ptx = 0;
    bool emulated = false;
};

// A file that was found, opened for as long as the program runs.
struct LoadedModule {
    ModuleFacts facts;
    const Module* module = nullptr;  // null where it was refused
    std::string refused;             // why: one sentence with the file's name and what to do
};

struct Choice {
    int module = -1;                   // the index of the one that runs on the card, -1 for none
    bool from_ptx = false;             // without machine code for it: the driver compiles the kernels
    std::vector<std::string> refused;  // for each module: why not, in one sentence with what to do; empty if it could
};

// CUDA's rules of compatibility. A driver runs the machine code of every toolkit of its own major version and of older
// ones; it compiles the PTX of toolkits no newer than itself. A card runs machine code of its own major compute
// capability and a minor one no higher than its own, and PTX of any lower capability.
// Of those that could run, a real one goes before an emulated, then machine code before PTX, which the driver compiles
// first, then a newer toolkit before an older.
Choice choose(const std::vector<ModuleFacts>& modules, int driver_version, int sm);

// Where modules are looked for: in HEADSCOPE_CUDA_MODULES alone where it names a folder, else beside the program and in
// lib/headscope beside its folder, which is bin or libexec/headscope.
std::vector<std::string> module_folders(const std::string& named, const std::string& program);

// The files libheadscope_cuda*.so of these folders, the highest number in a name first, equals in the folders' order.
std::vector<std::string> module_files(const std::vector<std::string>& folders);

// Never throws: what is wrong with the file is in `refused`. `contract` is this program's.
LoadedModule load_module(const std::string& file, const std::string& contract);

}  // namespace headscope::cuda

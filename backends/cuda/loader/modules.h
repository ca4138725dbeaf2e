// The modules with the CUDA backend: their files, what each reports, and which one a card runs.
#pragma once

#include <string>
#include <vector>

#include "backends/cuda/module.h"

namespace headscope::cuda {

// What a choice depends on; Module explains each.
struct ModuleFacts {
    std::string name;  // "libheadscope_cuda12.so"
    int toolkit = 0;
    std::vector<int> architectures;
    int ptx = 0;
    bool emulated = false;
};

// A file that was found; it stays open until the program ends.
struct LoadedModule {
    ModuleFacts facts;
    const Module* module = nullptr;  // null if rejected
    std::string refused;             // why: one sentence with the file's name and what to do
};

struct Choice {
    int module = -1;                   // the index of the module that runs on the card, -1 for none
    bool from_ptx = false;             // no machine code for it: the driver compiles the kernels
    std::vector<std::string> refused;  // for each module, why not and what to do; empty if it could
};

// CUDA's compatibility rules. A driver runs machine code of every toolkit of its own major version and of older ones;
// it compiles PTX of toolkits no newer than itself. A card runs machine code of its own major compute capability and a
// minor one no higher than its own, and PTX of any lower capability. Preference among modules that could run: real
// before emulated, machine code before PTX (which the driver must compile), newer toolkit before older.
Choice choose(const std::vector<ModuleFacts>& modules, int driver_version, int sm);

// The files libheadscope_cuda*.so of these folders, the highest number in a name first, then in the folders' order.
std::vector<std::string> module_files(const std::vector<std::string>& folders);

// Never throws: problems with the file are in `refused`. `contract` is this program's.
LoadedModule load_module(const std::string& file, const std::string& contract);

}  // namespace headscope::cuda

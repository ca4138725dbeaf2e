#include "backends/cuda/loader/modules.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/module_files.h"

namespace headscope::cuda {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStart = "libheadscope_cuda";
constexpr std::string_view kEnd = ".so";

// The toolkit's major version in a module's name, 0 if missing.
int number_in(const std::string& file) {
    const std::string digits = fs::path(file).filename().string().substr(kStart.size());
    int number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

// dlopen's "libcublas.so.13: cannot open shared object file: ..." names a library that the module needs.
std::string missing_library(const std::string& words, const std::string& file) {
    const std::size_t colon = words.find(": cannot open shared object file");
    const std::string name = colon == std::string::npos ? "" : words.substr(0, colon);
    return name == file ? "" : name;
}

std::string open_refusal(const std::string& name, const std::string& file, const std::string& words) {
    const std::string library = missing_library(words, file);
    if (library.empty()) {
        return fmt::format("{} cannot be loaded ({}): install it again, together with this program", name, words);
    }
    const std::size_t version = library.rfind(".so.");
    const bool toolkits = library.starts_with("libcu") && version != std::string::npos;
    return fmt::format("{} needs {}, which is missing ({}): install {}, or put its folder into LD_LIBRARY_PATH", name,
                       library, words, toolkits ? "CUDA " + library.substr(version + 4) + "'s libraries" : "it");
}

const Module* module_of(void* handle) {
    const auto entry = reinterpret_cast<ModuleEntry>(dlsym(handle, kModuleEntry));
    return entry == nullptr ? nullptr : entry();
}

ModuleFacts facts_of(const std::string& name, const Module& module) {
    ModuleFacts facts{name, module.toolkit, {}, module.ptx, module.emulated};
    for (const int* sm = module.architectures; *sm != 0; ++sm) {
        facts.architectures.push_back(*sm);
    }
    return facts;
}

}  // namespace

std::vector<std::string> module_files(const std::vector<std::string>& folders) {
    std::vector<std::string> files;
    for (const std::string& folder : folders) {
        std::error_code error;
        const std::size_t first = files.size();
        for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
            const std::string name = entry->path().filename().string();
            if (name.starts_with(kStart) && name.ends_with(kEnd)) {
                files.push_back(entry->path().string());
            }
        }
        // The order within a folder is arbitrary.
        std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
    }
    std::stable_sort(files.begin(), files.end(),
                     [](const std::string& a, const std::string& b) { return number_in(a) > number_in(b); });
    return files;
}

LoadedModule load_module(const std::string& file, const std::string& contract) {
    LoadedModule loaded;
    loaded.facts.name = fs::path(file).filename().string();
    if (!is_whole_library(file)) {
        loaded.refused = fmt::format("{} cannot be read or is truncated: install it again", file);
        return loaded;
    }
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        loaded.refused = open_refusal(loaded.facts.name, file, dlerror());
        return loaded;
    }
    const Module* module = module_of(handle);
    if (module == nullptr) {
        loaded.refused = fmt::format("{} is not a Headscope module (it has no {}): remove it", file, kModuleEntry);
    } else if (module->contract != contract) {
        loaded.refused = fmt::format(
            "{} does not belong to this program (it is of \"{}\", the program of \"{}\"): build or "
            "install both together",
            file, module->contract, contract);
    }
    if (!loaded.refused.empty()) {
        dlclose(handle);
        return loaded;
    }
    loaded.module = module;
    loaded.facts = facts_of(loaded.facts.name, *module);
    return loaded;
}

}  // namespace headscope::cuda

#include "support/module_files.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace headscope {

namespace {

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& value) {
    file.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file.read(reinterpret_cast<char*>(&value), sizeof value));
}

}  // namespace

std::vector<std::string> module_folders(const std::string& named, const std::string& program) {
    if (!named.empty()) {
        return {named};
    }
    const std::filesystem::path beside = std::filesystem::path(program).parent_path();
    std::filesystem::path prefix = beside.parent_path();
    if (prefix.filename() == "libexec") {  // libexec/headscope/headscope-viewer
        prefix = prefix.parent_path();
    }
    return {beside.string(), (prefix / "lib" / "headscope").string()};
}

std::vector<std::string> module_folders(const std::string& named) {
    std::error_code ignored;
    return module_folders(named, std::filesystem::read_symlink("/proc/self/exe", ignored).string());
}

bool is_whole_library(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    Elf64_Ehdr header{};
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error || !read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64) {
        return false;
    }
    for (std::uint64_t index = 0; index < header.e_phnum; ++index) {
        Elf64_Phdr part{};
        if (!read_at(file, header.e_phoff + index * header.e_phentsize, part) ||
            (part.p_type == PT_LOAD && (part.p_offset > size || part.p_filesz > size - part.p_offset))) {
            return false;
        }
    }
    return header.e_phnum > 0;
}

}  // namespace headscope

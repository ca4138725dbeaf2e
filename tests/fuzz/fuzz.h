// What a fuzz target gives: one run over bytes, and good inputs to begin with. Built twice from the same source: always
// as fuzz_NAME with the driver of this folder (fixed seed, a few seconds, among the tests), and with HEADSCOPE_FUZZ
// (clang) as libfuzzer_NAME, which searches with coverage for as long as it is let:
//     fuzz_NAME --write-seeds FOLDER && libfuzzer_NAME FOLDER
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/check.h"

// Returns 0. An Error is the right answer to bad bytes and is caught inside; anything else that leaves it is a find.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace headscope {

std::vector<std::string> fuzz_seeds();

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// An Error is the right answer to bad bytes; anything else goes on to the caller.
template <class Action>
void run_or_refuse(Action action) {
    try {
        action();
    } catch (const Error&) {
    }
}

// Bytes under a path, without a disk.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        HEADSCOPE_CHECK(descriptor_ >= 0, "no memory file");
        HEADSCOPE_CHECK(::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
                        "a memory file takes all bytes");
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(descriptor_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

}  // namespace headscope

// Writes numpy's .npz: a zip archive of stored .npy files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

class NpzWriter {
public:
    // F32, row-major.
    void add(const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<float>& values);
    // A text as Marian stores it: int8 that end with NUL.
    void add_text(const std::string& name, const std::string& text);
    // The whole file. Error if it would need zip64 (4 GiB).
    std::string finished() const;

private:
    void add_array(const std::string& name, const char* type, const std::string& shape, std::string_view data);

    struct Entry {
        std::string name;
        std::uint32_t crc = 0, size = 0, offset = 0;
    };
    std::vector<Entry> entries_;
    std::string bytes_;
};

}  // namespace headscope

// Files that are either the old one or the new one, never half of one: written beside, synced and renamed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headscope {

// Writes "<path>.tmp" in the same folder; commit() syncs it, renames it to `path` and syncs the folder. Without
// commit() the temporary file is removed and whatever stood at `path` is untouched. After a kill the leftover
// "<path>.tmp" is reused by the next writer. Every failure is an Error that names the path and the system's reason.
class AtomicFile {
public:
    explicit AtomicFile(std::string path);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    void write(const void* data, std::size_t bytes);
    void write(std::string_view text) { write(text.data(), text.size()); }
    void commit();

private:
    void open_and_lock();
    [[noreturn]] void fail(const char* doing, int error) const;

    std::string path_;
    std::string temporary_;
    int descriptor_ = -1;
    bool created_ = false;
};

void atomic_write_file(const std::string& path, std::string_view bytes);

}  // namespace headscope

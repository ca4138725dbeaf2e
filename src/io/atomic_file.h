// Atomic file replacement: write to a temporary file, sync, rename.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headscope {

// Writes "<path>.tmp" in the same folder; commit() syncs it, renames it to `path` and syncs the folder. Without
// commit() the temporary file is removed and the file at `path` is unchanged. A "<path>.tmp" left by a killed process
// is replaced by the next writer. Every failure is an Error that names the path and the system's reason. If `path` is a
// symbolic link, its target is replaced or created and the link stays. The new file gets the permissions of the file it
// replaces, and its owner if the system allows that.
class AtomicFile {
public:
    static constexpr const char* kTemporaryEnding = ".tmp";
    // The file that writing `path` replaces: the target of its symbolic links, whether or not it exists.
    static std::string target_of(const std::string& path);

    // Error if `path` exists and is not a regular file, or is the file that standard output or standard error writes
    // to. Call it before expensive work to fail early.
    static void require_replaceable(const std::string& path);

    explicit AtomicFile(std::string path);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    void write(const void* data, std::size_t bytes);
    void write(std::string_view text) { write(text.data(), text.size()); }
    void commit();

    const std::string& path() const { return path_; }
    const std::string& temporary() const { return temporary_; }  // contains the written data until commit()

private:
    void open_and_lock();
    void require_left_over() const;
    [[noreturn]] void fail(const char* doing, int error) const;

    std::string path_;
    std::string target_;  // without symbolic links
    std::string temporary_;
    int descriptor_ = -1;
    bool created_ = false;
};

// Whether `name` still refers to the open file. After waiting for a lock, its previous holder may have removed or
// renamed the file.
bool still_named(int open_file, const std::string& name);

void atomic_write_file(const std::string& path, std::string_view bytes);
void atomic_copy_file(const std::string& from, const std::string& to);

}  // namespace headscope

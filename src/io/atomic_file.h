// Files that are either the old one or the new one, never half of one: written beside, synced and renamed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headscope {

// Writes "<path>.tmp" in the same folder; commit() syncs it, renames it to `path` and syncs the folder. Without
// commit() the temporary file is removed and whatever stood at `path` is untouched. After a kill the leftover
// "<path>.tmp" is replaced by the next writer. Every failure is an Error that names the path and the system's reason.
// Where `path` is a symbolic link, the file that it leads to is replaced, or created, and the link stays. The new file
// has the permissions of the one that it replaces, and its owner where the system allows that.
class AtomicFile {
public:
    static constexpr const char* kTemporaryEnding = ".tmp";
    // What is replaced when `path` is written: where its symbolic links lead, whether or not a file is there.
    static std::string target_of(const std::string& path);

    // Error where `path` is not a regular file, or the file that standard output or standard error goes to: for those
    // who want to know it before they compute what they write.
    static void require_replaceable(const std::string& path);

    explicit AtomicFile(std::string path);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    void write(const void* data, std::size_t bytes);
    void write(std::string_view text) { write(text.data(), text.size()); }
    void commit();

    const std::string& path() const { return path_; }
    const std::string& temporary() const { return temporary_; }  // holds what was written, until commit()

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

// Whether `name` is still that of the open file: whoever waits for a lock may get it on a file that its holder has
// since removed or renamed.
bool still_named(int open_file, const std::string& name);

void atomic_write_file(const std::string& path, std::string_view bytes);
void atomic_copy_file(const std::string& from, const std::string& to);

}  // namespace headscope

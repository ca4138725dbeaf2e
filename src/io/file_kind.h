// Detects a file's format by its first bytes, not by its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope {

enum class FileKind : std::uint8_t { Text, Gzip, Zstd, Xz, Bzip2, Other };

struct KnownKind {
    FileKind kind = FileKind::Text;
    const char* name = "text";  // "a PDF document"
    const char* advice = "";    // what to do where text is wanted
};

// The kind of a file with this beginning; Text if no format is recognized.
KnownKind kind_of(std::string_view beginning);
// Whether more bytes could change the detected kind.
bool may_be_another_kind(std::string_view beginning);
// Whether it contains NUL and is too short to decide whether it is UTF-16 or UTF-32.
bool may_be_wide_text(std::string_view beginning);

}  // namespace headscope

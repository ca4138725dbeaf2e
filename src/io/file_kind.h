// What a file holds, by its first bytes and not by its name.
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

// Of the file that begins so; text where no format is known.
KnownKind kind_of(std::string_view beginning);
// Whether more bytes may show that it is another kind than these do.
bool may_be_another_kind(std::string_view beginning);
// Whether it holds NUL, and more bytes would tell if that is text of wide characters.
bool may_be_wide_text(std::string_view beginning);

}  // namespace headscope

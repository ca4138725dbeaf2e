#include "io/file_kind.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "io/byte_order_mark.h"

namespace headscope {

namespace {

constexpr const char* kUnpack = "unpack it first";
constexpr const char* kConvert = "convert it to UTF-8, for example with iconv";
constexpr const char* kExport = "save its text as plain UTF-8 first";

struct Signature {
    std::string_view bytes;
    KnownKind known;
    std::size_t any = std::string_view::npos;  // index of a byte that may have any value

    // Compares the common prefix.
    bool agrees(std::string_view beginning) const {
        const std::size_t length = std::min(beginning.size(), bytes.size());
        for (std::size_t i = 0; i < length; ++i) {
            if (i != any && beginning[i] != bytes[i]) {
                return false;
            }
        }
        return true;
    }
    bool begins(std::string_view beginning) const { return beginning.size() >= bytes.size() && agrees(beginning); }
};

constexpr KnownKind kBzip2{FileKind::Bzip2, "packed by bzip2", kUnpack};
constexpr KnownKind kZip{FileKind::Other, "a ZIP archive or an office document",
                         "unpack it, or save its text as plain UTF-8"};
constexpr KnownKind kUtf16{FileKind::Other, "text in UTF-16", kConvert};
constexpr KnownKind kUtf32{FileKind::Other, "text in UTF-32", kConvert};

using namespace std::string_view_literals;

// UTF-32 before UTF-16: the little-endian UTF-32 mark begins with that of UTF-16.
constexpr std::array kSignatures = {
    Signature{"\x1f\x8b"sv, {FileKind::Gzip, "packed by gzip", kUnpack}},
    Signature{"\x28\xb5\x2f\xfd"sv, {FileKind::Zstd, "packed by zstd", kUnpack}},
    Signature{"\xfd"
              "7zXZ\0"sv,
              {FileKind::Xz, "packed by xz", kUnpack}},
    Signature{"BZh91AY&SY"sv, kBzip2, 3},
    Signature{"BZh9\x17\x72\x45\x38\x50\x90"sv, kBzip2, 3},  // an empty stream
    Signature{"\xff\xfe\0\0"sv, kUtf32},
    Signature{"\0\0\xfe\xff"sv, kUtf32},
    Signature{"\xff\xfe"sv, kUtf16},
    Signature{"\xfe\xff"sv, kUtf16},
    Signature{"PK\3\4"sv, kZip},
    Signature{"PK\5\6"sv, kZip},
    Signature{"PK\7\x8"sv, kZip},
    Signature{"%PDF-"sv, {FileKind::Other, "a PDF document", kExport}},
    Signature{"{\\rtf"sv, {FileKind::Other, "an RTF document", kExport}},
    Signature{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, {FileKind::Other, "an office document", kExport}},
    Signature{"7z\xbc\xaf\x27\x1c"sv, {FileKind::Other, "a 7z archive", kUnpack}},
    Signature{"Rar!\x1a\x07"sv, {FileKind::Other, "a RAR archive", kUnpack}},
    Signature{"\x1f\x9d"sv, {FileKind::Other, "packed by compress", kUnpack}},
    Signature{"\x04\x22\x4d\x18"sv, {FileKind::Other, "packed by LZ4", kUnpack}},
    Signature{"LZIP\1"sv, {FileKind::Other, "packed by lzip", kUnpack}},
};

// How many bytes are examined to detect UTF-16 or UTF-32 without a byte order mark.
constexpr std::size_t kExamined = 4096;

// The code unit of `width` bytes at `at`.
std::uint32_t wide_character(std::string_view text, std::size_t at, std::size_t width, bool big_endian) {
    std::uint32_t character = 0;
    for (std::size_t i = 0; i < width; ++i) {
        const std::size_t shift = 8 * (big_endian ? width - 1 - i : i);
        character |= std::uint32_t{static_cast<unsigned char>(text[at + i])} << shift;
    }
    return character;
}

// True if every character is in a Unicode plane that is in use.
bool is_bare_utf32(std::string_view text, bool big_endian) {
    std::size_t at = 0;
    for (; at + 4 <= text.size(); at += 4) {
        const std::uint32_t character = wide_character(text, at, 4, big_endian);
        const std::uint32_t plane = character >> 16U;
        if (character == 0 || (plane > 3 && plane != 14)) {
            return false;
        }
    }
    return at >= 8;
}

// Whether the text contains control characters other than NUL and white space, or bytes that are not valid UTF-8
// sequences.
bool is_binary(std::string_view text) {
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; };
    const auto leads = [](char c) { return static_cast<unsigned char>(c) >= 0xc0; };
    char before = '\0';
    return std::any_of(text.begin(), text.end(), [&](char c) {
        const char last = std::exchange(before, c);
        const bool control = c > 0 && c < ' ' && (c < '\t' || c > '\r');
        return control || (leads(last) && !continues(c)) || (last >= 0 && continues(c));
    });
}

// True if the text begins with two Latin letters, or has blanks and is not UTF-8, or all of its line feed bytes are
// UTF-16 line feeds.
bool is_bare_utf16(std::string_view text, bool big_endian) {
    std::size_t latin = 0;  // at the beginning
    std::size_t blanks = 0;
    std::size_t lines = 0;
    for (std::size_t at = 0; at + 2 <= text.size(); at += 2) {
        const std::uint32_t character = wide_character(text, at, 2, big_endian);
        latin += latin == at / 2 && character > 0 && character < 0x100 ? 1 : 0;
        blanks += character == ' ' || character == '\n' || character == '\r' ? 1 : 0;
        lines += character == '\n' ? 1 : 0;
    }
    const auto feeds = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    return latin >= 2 || (blanks > 0 && is_binary(text)) || (lines > 0 && lines == feeds);
}

KnownKind wide_text(std::string_view beginning) {
    const std::string_view text = beginning.substr(0, kExamined);
    for (const bool big_endian : {false, true}) {
        if (is_bare_utf32(text, big_endian)) {
            return kUtf32;
        }
    }
    return is_bare_utf16(text, false) || is_bare_utf16(text, true) ? kUtf16 : KnownKind{};
}

bool is_tar(std::string_view beginning) {
    constexpr std::size_t kAt = 257;
    return beginning.size() > kAt && beginning.substr(kAt).starts_with("ustar");
}

}  // namespace

KnownKind kind_of(std::string_view beginning) {
    const auto* found = std::find_if(kSignatures.begin(), kSignatures.end(),
                                     [&](const Signature& signature) { return signature.begins(beginning); });
    if (found != kSignatures.end()) {
        return found->known;
    }
    if (is_tar(beginning)) {
        return {FileKind::Other, "a tar archive", kUnpack};
    }
    return wide_text(beginning);
}

bool may_be_another_kind(std::string_view beginning) {
    const auto open = [&](const Signature& signature) {
        return beginning.size() < signature.bytes.size() && signature.agrees(beginning);
    };
    return std::any_of(kSignatures.begin(), kSignatures.end(), open) ||
           (beginning.size() < kByteOrderMark.size() && kByteOrderMark.starts_with(beginning));
}

bool may_be_wide_text(std::string_view beginning) {
    return beginning.size() < kExamined && beginning.find('\0') != std::string_view::npos;
}

}  // namespace headscope

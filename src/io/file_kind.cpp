#include "io/file_kind.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "io/byte_order_mark.h"

namespace headscope {

namespace {

constexpr const char* kUnpack = "unpack it first";
constexpr const char* kConvert = "convert it to UTF-8, for example with iconv";
constexpr const char* kExport = "save its text as plain UTF-8 first";

struct Signature {
    std::string_view bytes;
    KnownKind known;
    std::size_t any = std::string_view::npos;  // the byte that does not matter

    // As far as both go.
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

// UTF-32 before UTF-16, which its mark in little endian begins with.
constexpr std::array kSignatures = {
    Signature{"\x1f\x8b"sv, {FileKind::Gzip, "packed by gzip", kUnpack}},
    Signature{"\x28\xb5\x2f\xfd"sv, {FileKind::Zstd, "packed by zstd", kUnpack}},
    Signature{"\xfd"
              "7zXZ\0"sv,
              {FileKind::Xz, "packed by xz", kUnpack}},
    Signature{"BZh91AY&SY"sv, kBzip2, 3},
    Signature{"BZh9\x17\x72\x45\x38\x50\x90"sv, kBzip2, 3},  // of nothing
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

// Without its mark: two letters of a Latin script.
bool is_bare_utf16(std::string_view beginning) {
    if (beginning.size() < 4) {
        return false;
    }
    const auto zero = [&](std::size_t at) { return beginning[at] == '\0'; };
    return zero(0) == zero(2) && zero(1) == zero(3) && zero(0) != zero(1);
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
    return is_bare_utf16(beginning) ? kUtf16 : KnownKind{};
}

bool may_be_another_kind(std::string_view beginning) {
    const auto open = [&](const Signature& signature) {
        return beginning.size() < signature.bytes.size() && signature.agrees(beginning);
    };
    return std::any_of(kSignatures.begin(), kSignatures.end(), open) ||
           (beginning.size() < kByteOrderMark.size() && kByteOrderMark.starts_with(beginning));
}

}  // namespace headscope

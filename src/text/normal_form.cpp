#include "text/normal_form.h"

#include <cstddef>
#include <cstdlib>
#include <memory>

#include <utf8proc.h>

#include "support/check.h"
#include "support/utf8.h"

namespace headscope {
namespace {

constexpr int kMostMarks = 30;

enum class Role : std::uint8_t { Base, Mark, Ignored };

Role role_of(char32_t c) {
    if (c < 0x80) {
        return Role::Base;
    }
    const utf8proc_property_t* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
    switch (property->category) {
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_MC:
        case UTF8PROC_CATEGORY_ME: return Role::Mark;
        case UTF8PROC_CATEGORY_CF: return Role::Ignored;
        default: break;
    }
    if (c == 0xff9e || c == 0xff9f) {  // the halfwidth voicing signs, which NFKC turns into marks
        return Role::Mark;
    }
    return property->ignorable ? Role::Ignored : Role::Base;
}

// Whether a normal form may join the character with the one before it: marks, and the later parts of Hangul syllables.
bool may_join(char32_t c) {
    return role_of(c) == Role::Mark || (c >= 0x1160 && c <= 0x11ff);
}

// The length up to the 31st consecutive mark, or of the whole text.
std::size_t safe_length(std::string_view text) {
    int marks = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const Role role = role_of(next_code_point(text, at).value_or(0));
        marks = role == Role::Base ? 0 : marks + (role == Role::Mark ? 1 : 0);
        if (marks > kMostMarks) {
            return begin;
        }
    }
    return text.size();
}

}  // namespace

std::string normalised_by(std::string_view text, int options, MapCharacter map) {
    std::string result;
    do {
        const std::string_view part = text.substr(0, safe_length(text));
        text.remove_prefix(part.size());
        utf8proc_uint8_t* bytes = nullptr;
        const utf8proc_ssize_t size = utf8proc_map_custom(reinterpret_cast<const utf8proc_uint8_t*>(part.data()),
                                                          static_cast<utf8proc_ssize_t>(part.size()), &bytes,
                                                          static_cast<utf8proc_option_t>(options), map, nullptr);
        const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(bytes, &std::free);
        HEADSCOPE_CHECK(size >= 0, utf8proc_errmsg(size));
        result.append(bytes, bytes + size);
    } while (!text.empty());
    return result;
}

AlignedText normalised_by(const AlignedText& text, int options) {
    const AlignedWord whole = utf8_of(text);
    const std::string wanted = normalised_by(whole.text, options);
    if (wanted == whole.text) {
        return text;
    }
    AlignedText changed;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
        for (end = begin + 1; end < text.size() && may_join(text[end].c);) {
            ++end;
        }
        append_made_from(changed, code_points(normalised_by(whole.part(begin, end), options)),
                         whole.source(begin, end));
    }
    if (utf8_of(changed).text != wanted) {  // characters joined that were not expected to
        changed.clear();
        append_made_from(changed, code_points(wanted), whole.source(0, whole.size()));
    }
    return changed;
}

std::string nfkc(std::string_view text) {
    return first_invalid_utf8(text) ? std::string(text)
                                    : normalised_by(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
}

}  // namespace headscope

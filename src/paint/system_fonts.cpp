#include "paint/system_fonts.h"

#include <memory>
#include <string_view>

#include <fontconfig/fontconfig.h>

namespace headscope {

namespace {

struct FontconfigDeleter {
    void operator()(FcCharSet* characters) const { FcCharSetDestroy(characters); }
    void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
    void operator()(FcFontSet* fonts) const { FcFontSetDestroy(fonts); }
};
using Pattern = std::unique_ptr<FcPattern, FontconfigDeleter>;

Pattern pattern_for(char32_t character, bool bold) {
    const std::unique_ptr<FcCharSet, FontconfigDeleter> characters(FcCharSetCreate());
    FcCharSetAddChar(characters.get(), character);
    Pattern pattern(FcPatternCreate());
    FcPatternAddCharSet(pattern.get(), FC_CHARSET, characters.get());
    FcPatternAddString(pattern.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("sans-serif"));
    FcPatternAddInteger(pattern.get(), FC_WEIGHT, bold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR);
    FcPatternAddBool(pattern.get(), FC_SCALABLE, FcTrue);
    FcPatternAddBool(pattern.get(), FC_COLOR, FcFalse);
    FcPatternAddBool(pattern.get(), FC_VARIABLE, FcFalse);  // bold ones are files of their own then
    FcConfigSubstitute(nullptr, pattern.get(), FcMatchPattern);
    FcDefaultSubstitute(pattern.get());
    return pattern;
}

// fontconfig sorts all fonts, also those that lack the character.
bool draws(const FcPattern& font, char32_t character) {
    FcCharSet* characters = nullptr;
    FcBool colour = FcFalse;
    FcChar8* format = nullptr;
    FcPatternGetBool(&font, FC_COLOR, 0, &colour);
    FcPatternGetString(&font, FC_FONTFORMAT, 0, &format);
    const std::string_view kind = format == nullptr ? "" : reinterpret_cast<const char*>(format);
    return colour == FcFalse && (kind == "TrueType" || kind == "CFF") &&
           FcPatternGetCharSet(&font, FC_CHARSET, 0, &characters) == FcResultMatch &&
           FcCharSetHasChar(characters, character) == FcTrue;
}

}  // namespace

std::vector<FontFile> system_fonts(char32_t character, bool bold) {
    constexpr std::size_t kMost = 4;
    constexpr int kFaces = 0xFFFF;  // the bits above name an instance of a variable font
    const Pattern wanted = pattern_for(character, bold);
    FcResult result = FcResultNoMatch;
    const std::unique_ptr<FcFontSet, FontconfigDeleter> sorted(
        FcFontSort(nullptr, wanted.get(), FcFalse, nullptr, &result));
    std::vector<FontFile> found;
    for (int i = 0; sorted != nullptr && i < sorted->nfont && found.size() < kMost; ++i) {
        const FcPattern& font = *sorted->fonts[i];
        FcChar8* path = nullptr;
        int face = 0;
        if (draws(font, character) && FcPatternGetString(&font, FC_FILE, 0, &path) == FcResultMatch) {
            FcPatternGetInteger(&font, FC_INDEX, 0, &face);
            found.push_back({reinterpret_cast<const char*>(path), face & kFaces});
        }
    }
    return found;
}

}  // namespace headscope

#include "paint/typesetter.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fribidi/fribidi.h>
#include <harfbuzz/hb.h>

#include "support/check.h"
#include "support/utf8.h"

namespace headscope {

namespace {

using Characters = std::vector<std::uint32_t>;

Characters decoded(std::string_view text) {
    Characters characters;
    for (std::size_t at = 0; at < text.size();) {
        characters.push_back(next_character(text, at));
    }
    return characters;
}

bool is_invisible(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x2069) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF;
}

// Alphabets and symbols whose letters stand side by side: up to Armenian, then Georgian, marks on Latin and Greek
// letters, symbols, ligatures.
bool stands_alone(char32_t c) {
    return c < 0x0590 || (c >= 0x10A0 && c < 0x1100) || (c >= 0x1D00 && c < 0x3000) || (c >= 0xFB00 && c < 0xFB1D) ||
           is_invisible(c) || c == kReplacementCharacter;
}

bool is_mark(char32_t c) {
    const hb_unicode_general_category_t category = hb_unicode_general_category(hb_unicode_funcs_get_default(), c);
    return category == HB_UNICODE_GENERAL_CATEGORY_NON_SPACING_MARK ||
           category == HB_UNICODE_GENERAL_CATEGORY_SPACING_MARK ||
           category == HB_UNICODE_GENERAL_CATEGORY_ENCLOSING_MARK;
}

// Characters of one script, direction and font.
struct Run {
    std::size_t first = 0;
    std::size_t count = 0;
    FriBidiLevel level = 0;  // odd: from right to left
    Typeface* face = nullptr;
    hb_script_t script = HB_SCRIPT_COMMON;
};

std::vector<FriBidiLevel> levels_of(const Characters& text) {
    const auto count = static_cast<FriBidiStrIndex>(text.size());
    std::vector<FriBidiCharType> types(text.size());
    std::vector<FriBidiBracketType> brackets(text.size());
    std::vector<FriBidiLevel> levels(text.size(), 0);
    fribidi_get_bidi_types(text.data(), count, types.data());
    fribidi_get_bracket_types(text.data(), count, types.data(), brackets.data());
    FriBidiParType base = FRIBIDI_PAR_ON;
    if (fribidi_get_par_embedding_levels_ex(types.data(), brackets.data(), count, &base, levels.data()) == 0) {
        throw Error("there is no memory to order a text of several directions");
    }
    return levels;
}

// From left to right (rule L2 of the Unicode Bidirectional Algorithm): from the highest level to the lowest odd one,
// each sequence of runs of that level or a higher one is reversed.
void order(std::vector<Run>& runs) {
    FriBidiLevel highest = 0;
    for (const Run& run : runs) {
        highest = std::max(highest, run.level);
    }
    for (FriBidiLevel level = highest; level > 0; --level) {
        const auto within = [&](const Run& run) { return run.level >= level; };
        for (auto from = runs.begin(); from != runs.end();) {
            from = std::find_if(from, runs.end(), within);
            const auto to = std::find_if_not(from, runs.end(), within);
            std::reverse(from, to);
            from = to;
        }
    }
}

struct BufferDeleter {
    void operator()(hb_buffer_t* buffer) const { hb_buffer_destroy(buffer); }
};

// Appends the run's glyphs.
void shape(const Characters& text, const Run& run, SetText& into) {
    const std::unique_ptr<hb_buffer_t, BufferDeleter> buffer(hb_buffer_create());
    hb_buffer_add_codepoints(buffer.get(), text.data(), static_cast<int>(text.size()), static_cast<unsigned>(run.first),
                             static_cast<int>(run.count));
    hb_buffer_set_direction(buffer.get(), run.level % 2 == 0 ? HB_DIRECTION_LTR : HB_DIRECTION_RTL);
    hb_buffer_set_script(buffer.get(), run.script);
    hb_buffer_guess_segment_properties(buffer.get());  // the language
    hb_shape(run.face->shaper(), buffer.get(), nullptr, 0);
    unsigned count = 0;
    const hb_glyph_info_t* glyphs = hb_buffer_get_glyph_infos(buffer.get(), &count);
    const hb_glyph_position_t* places = hb_buffer_get_glyph_positions(buffer.get(), &count);
    const double units = run.face->units();
    for (unsigned i = 0; i < count; ++i) {
        const std::uint32_t index = glyphs[i].codepoint;
        if (index == Typeface::kMissing && is_invisible(text[glyphs[i].cluster])) {
            continue;
        }
        into.glyphs.push_back({run.face, index, {into.width + places[i].x_offset / units, places[i].y_offset / units}});
        into.width += index == Typeface::kMissing ? run.face->glyph(index).advance : places[i].x_advance / units;
    }
}

}  // namespace

Typesetter::Typesetter(FontFinder find) : find_(std::move(find)), embedded_{Typeface(false), Typeface(true)} {}

bool Typesetter::is_plain(std::string_view text, bool bold) const {
    const Typeface& face = embedded_[bold ? 1 : 0];
    for (std::size_t at = 0; at < text.size();) {
        const char32_t c = next_character(text, at);
        if (!stands_alone(c) || (face.index_of(c) == Typeface::kMissing && !is_invisible(c))) {
            return false;
        }
    }
    return true;
}

SetText Typesetter::set_plain(std::span<const std::uint32_t> text, bool bold) {
    Typeface& face = embedded_[bold ? 1 : 0];
    SetText set;
    for (const char32_t c : text) {
        if (!is_invisible(c)) {
            set.glyphs.push_back({&face, face.index_of(c), {set.width, 0.0}});
            set.width += face.glyph(set.glyphs.back().index).advance;
        }
    }
    return set;
}

Typeface* Typesetter::system_face_for(char32_t character, bool bold) {
    const auto has = [&](const Opened& one) {
        return one.bold == bold && one.face.index_of(character) != Typeface::kMissing;
    };
    if (const auto found = std::ranges::find_if(opened_, has); found != opened_.end()) {
        return &found->face;
    }
    for (const FontFile& file : find_(character, bold)) {
        const auto is_file = [&](const Opened& one) { return one.bold == bold && one.file == file; };
        if (std::ranges::any_of(opened_, is_file)) {
            continue;  // it lacks the character
        }
        try {
            opened_.emplace_back(file, bold);
        } catch (const Error&) {
            continue;  // such as fonts whose outlines are compressed
        }
        if (has(opened_.back())) {
            return &opened_.back().face;
        }
    }
    return nullptr;
}

Typeface& Typesetter::face_for(char32_t character, bool bold) {
    Typeface& embedded = embedded_[bold ? 1 : 0];
    if (embedded.index_of(character) != Typeface::kMissing || is_invisible(character)) {
        return embedded;
    }
    const auto [known, is_new] = known_.try_emplace({character, bold}, nullptr);
    if (is_new) {
        known->second = system_face_for(character, bold);
    }
    return known->second == nullptr ? embedded : *known->second;
}

SetText Typesetter::set(std::string_view text, bool bold) {
    const Characters characters = decoded(text);
    if (is_plain(text, bold)) {
        return set_plain(characters, bold);
    }
    const std::vector<FriBidiLevel> levels = levels_of(characters);
    std::vector<Run> runs;
    for (std::size_t i = 0; i < characters.size(); ++i) {
        const char32_t c = characters[i];
        hb_script_t script = hb_unicode_script(hb_unicode_funcs_get_default(), c);
        if (script == HB_SCRIPT_COMMON || script == HB_SCRIPT_INHERITED) {
            script = runs.empty() ? HB_SCRIPT_COMMON : runs.back().script;
        }
        const bool joins = !runs.empty() && (is_mark(c) || is_invisible(c)) &&
                           (is_invisible(c) || runs.back().face->index_of(c) != Typeface::kMissing);
        Typeface* face = joins ? runs.back().face : &face_for(c, bold);
        if (!runs.empty() && runs.back().level == levels[i] && runs.back().face == face &&
            (runs.back().script == script || runs.back().script == HB_SCRIPT_COMMON)) {
            runs.back().script = script;
            ++runs.back().count;
        } else {
            runs.push_back({i, 1, levels[i], face, script});
        }
    }
    order(runs);
    SetText set;
    for (const Run& run : runs) {
        shape(characters, run, set);
    }
    return set;
}

}  // namespace headscope

#include "support/xml.h"

#include "support/utf8.h"

namespace headscope {

namespace {

bool allowed_in_xml(char32_t c) {
    return c >= 0x20 ? c != 0xFFFE && c != 0xFFFF : c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::string escape_xml(const std::string& text) {
    std::string escaped;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t start = at;
        const char32_t c = next_character(text, at);
        switch (c) {
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '&': escaped += "&amp;"; break;
            case '"': escaped += "&quot;"; break;
            case '\'': escaped += "&#39;"; break;
            case kReplacementCharacter: escaped += "\xEF\xBF\xBD"; break;
            default: escaped += allowed_in_xml(c) ? text.substr(start, at - start) : "\xEF\xBF\xBD";
        }
    }
    return escaped;
}

}  // namespace headscope
